import { statSync } from "node:fs";
import { join } from "node:path";
import { openDatabase } from "../state/database.ts";
import type { Clock } from "../system/clock.ts";
import { FakeCloud } from "./fake-cloud.ts";
import { writeRecording } from "./recordings.ts";
import { type Device, makeDevice, type RunningDaemon, settingsFor, startDaemon } from "./run-daemon.ts";

/** A device with an agent, whose recordings the cloud knows. */
export interface DeletionScene {
  readonly device: Device;
  readonly cloud: FakeCloud;
  readonly agent: RunningDaemon;
  readonly start: () => RunningDaemon;
  readonly pathOf: (name: string) => string;
}

interface Given {
  readonly files: readonly string[];
  readonly flags?: Parameters<typeof settingsFor>[2];
  readonly clock?: Clock;
  readonly settings?: Partial<FakeCloud["settings"]>;
}

/** Makes a device with recordings that the cloud knows. */
export async function withDevice(
  { files, flags, clock, settings }: Given,
  work: (scene: DeletionScene) => Promise<void>,
): Promise<void> {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  cloud.settings = { ...cloud.settings, ...settings };
  for (const [index, name] of files.entries()) await writeRecording(device, name, { seed: index + 1 });
  const start = () => startDaemon(settingsFor(device, cloud, flags), clock);
  await using agent = start();
  for (const name of files) await cloud.until(`${name} is reported`, () => cloud.at(name) !== undefined);
  await work({ device, cloud, agent, start, pathOf: (name) => join(device.root, name) });
}

/** Imports a file and waits until the agent has acknowledged the end. */
export async function importFile(cloud: FakeCloud, name: string): Promise<string> {
  const { versionId } = cloud.at(name)!;
  const requestId = cloud.requestImport(name);
  await cloud.until(`${name} is stored`, () => cloud.uploads.stored.has(versionId));
  cloud.advance(requestId, "imported");
  await cloud.until(`the end of ${name} is acknowledged`, () => cloud.acknowledged.includes(requestId));
  return versionId;
}

/** Waits until the agent knows the file as it is on the disk. */
export async function untilTaken({ device, agent }: Pick<DeletionScene, "device" | "agent">, name: string) {
  const { ctimeNs } = statSync(join(device.root, name), { bigint: true });
  const isTaken = () => {
    using database = openDatabase(device.stateDir).database;
    const query = database.prepare("SELECT ctime_ns FROM files WHERE path = ?");
    query.setReadBigInts(true);
    return query.get(name)?.ctime_ns === ctimeNs;
  };
  await agent.until("the file is known as it is", isTaken);
}

export function setDevice(cloud: FakeCloud, changes: Partial<FakeCloud["settings"]>): void {
  cloud.settings = { ...cloud.settings, ...changes };
  cloud.changed();
}

export const hasProblem =
  (code: string) =>
  ({ problems }: { problems: readonly { code: string }[] }) =>
    problems.some((problem) => problem.code === code);
