import { open, readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { api } from "@downlink/protocol";
import { request } from "undici";
import type { ControlPlane } from "../../processes/control-plane.ts";
import { openPlant } from "../../processes/plant.ts";
import { type BucketUnderTest, startInBucket } from "./bucket-under-test.ts";

/** A control plane that knows the drive, whose object is in a bucket. */
export interface StoredDrive extends AsyncDisposable {
  readonly cloud: ControlPlane;
  readonly recordingId: string;
  /** The object is the largest one below this prefix of this bucket. */
  readonly bucket: string;
  readonly prefix: string;
}

/** Stores the drive where the control plane reads it by an endpoint, and resolves when it is imported. */
export type StoreDrive = (under: BucketUnderTest, path: string, endpoint: string) => Promise<StoredDrive>;

const NAME = "exports";
const KEY = "drive";
const POLL_MS = 50;
const PIECE_BYTES = 1024 * 1024;

/** In the control plane's own bucket, by an upload. The second time it is there already. */
export const storeInOurBucket: StoreDrive = async (under, path, endpoint) => {
  const cloud = await startInBucket(under, { name: NAME, endpoint });
  const known = await cloud.admin.call(api.recordings.list, {});
  if (known.length === 0) await upload(cloud, path);
  const recordingId = await untilImported(cloud);
  const [bucket, prefix] = [under.bucket, `${NAME}/`];
  return { cloud, recordingId, bucket, prefix, [Symbol.asyncDispose]: () => cloud[Symbol.asyncDispose]() };
};

/** In a customer's bucket, of which the control plane may only read. */
export const storeInCustomersBucket: StoreDrive = async ({ ceph }, path, endpoint) => {
  await using stack = new AsyncDisposableStack();
  const after = (close: () => Promise<void>) => void stack.defer(close);
  const plant = await openPlant({ after }, { ...ceph, endpoint }, { DOWNLINK_LIST_BUCKETS: "0" });
  await plant.put("drive.mcap", await readFile(path));
  const cloud = stack.use(await plant.start());
  for (const args of [
    ["create-byob", "plant", ...plant.place],
    ["scan", "plant"],
  ]) {
    const { exitCode, output } = await plant.site(...args);
    if (exitCode !== 0) throw new Error(output);
  }
  const recordingId = await untilImported(cloud);
  const opened = stack.move();
  return {
    ...{ cloud, recordingId, bucket: plant.bucket, prefix: "" },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
};

async function upload(cloud: ControlPlane, path: string): Promise<void> {
  const { link } = await cloud.admin.call(api.uploads.create, {
    filename: "drive.mcap",
    deviceName: "bench",
    key: KEY,
  });
  await using file = await open(path);
  const answer = await request(link, {
    method: "PUT",
    headers: { "content-type": "application/octet-stream", "content-length": String((await file.stat()).size) },
    body: file.createReadStream({ highWaterMark: PIECE_BYTES, autoClose: false }),
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const text = await answer.body.text();
  if (answer.statusCode !== 200) throw new Error(`the upload was refused: ${text}`);
}

async function untilImported(cloud: ControlPlane): Promise<string> {
  for (;;) {
    const [recording] = await cloud.admin.call(api.recordings.list, {});
    if (recording?.importStatus === "complete") return recording.id;
    await delay(POLL_MS);
  }
}
