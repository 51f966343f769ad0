import assert from "node:assert/strict";
import { join } from "node:path";
import { FakeCloud } from "./fake-cloud.ts";
import type { FakeRequest, Fault } from "./fake-http.ts";
import { writeRecording } from "./recordings.ts";
import { type Device, makeDevice, type RunningDaemon, settingsFor, startDaemon } from "./run-daemon.ts";

export const PART_BYTES = 64 * 1024;

/** Makes a device with one recording of about ten parts that the cloud knows. */
export async function withUpload(work: (scene: UploadScene) => Promise<void>, flags = {}): Promise<void> {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  const bytes = await writeRecording(device, "a.mcap", { sizeBytes: 10 * PART_BYTES });
  const settings = settingsFor(device, cloud, flags);
  const start = () => startDaemon(settings);
  await using agent = start();
  await cloud.until("the file is reported", () => cloud.at("a.mcap") !== undefined);
  await work({
    device,
    cloud,
    bytes,
    agent,
    start,
    path: join(device.root, "a.mcap"),
    versionId: cloud.at("a.mcap")!.versionId,
  });
}

export interface UploadScene {
  readonly device: Device;
  readonly cloud: FakeCloud;
  readonly bytes: Buffer;
  readonly agent: RunningDaemon;
  readonly start: () => RunningDaemon;
  readonly path: string;
  readonly versionId: string;
}

/** Holds back the given part and all later ones until they are released. */
export function holdParts(cloud: FakeCloud, from: number) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const isHeld = ({ name, path }: FakeRequest) => name === "put" && Number(path.split("/").at(-1)) >= from;
  cloud.gate = (request) => (isHeld(request) ? promise : undefined);
  const release = () => {
    cloud.gate = () => undefined;
    resolve();
  };
  return { release };
}

export function faultOnce(matches: (request: FakeRequest) => boolean, fault: Fault, times = 1) {
  let left = times;
  return (request: FakeRequest) => (matches(request) && left-- > 0 ? fault : undefined);
}

export const isPart =
  (number: number) =>
  ({ name, path }: FakeRequest) =>
    name === "put" && path.endsWith(`/${number}`);

export async function untilStored(scene: Pick<UploadScene, "cloud" | "versionId" | "bytes">): Promise<void> {
  const { cloud, versionId, bytes } = scene;
  await cloud.until("it is stored", () => cloud.uploads.stored.has(versionId));
  assert.ok(cloud.uploads.stored.get(versionId)?.equals(bytes));
}
