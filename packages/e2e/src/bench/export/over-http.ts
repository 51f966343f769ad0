import { open, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { api } from "@downlink/protocol";
import { writeDrive, writeMcapFile } from "@downlink/recordings/testing";
import { request } from "undici";
import { type ControlPlane, startControlPlane } from "../../processes/control-plane.ts";
import { figuresOf } from "../agent/process-figures.ts";
import { say } from "../report.ts";
import { type Downloaded, type HttpResult, reportDownloads } from "./report-downloads.ts";

export const httpName = "over http";

interface Setting {
  /** A folder on a file system in memory, for the control plane's data too. */
  readonly folder: string;
  readonly scale: number;
  readonly runs: number;
}

const PIECE_BYTES = 1024 * 1024;
const POLL_MS = 100;
const compressions = ["zstd", ""] as const;
type Compression = (typeof compressions)[number];

/** Measures a stored recording by export link, whole and unchanged, beside the same server's plain download of the same bytes. */
export async function measureOverHttp({ folder, scale, runs }: Setting): Promise<void> {
  const dataDir = join(folder, "cloud");
  const results: HttpResult[] = [];
  await using cloud = await startControlPlane({ dataDir });
  for (const compression of compressions) {
    const ids = await uploadDrive(cloud, { path: join(folder, "drive.mcap"), compression, scale });
    const result: HttpResult = { name: `whole, ${compression || "uncompressed"}`, plain: [], exported: [] };
    say(`stored a drive at scale ${scale}, ${compression || "uncompressed"}`);
    for (let run = 0; run < runs; run += 1) {
      result.plain.push(await download(cloud, await plainLink(cloud, ids.carrierId)));
      result.exported.push(await download(cloud, await exportLink(cloud, ids.recordingId, compression)));
    }
    results.push(result);
  }
  reportDownloads(results);
}

/** Returns the recording that is exported, and the one that has the same file as an attachment. */
async function uploadDrive(
  cloud: ControlPlane,
  { path, compression, scale }: { path: string; compression: Compression; scale: number },
): Promise<{ recordingId: string; carrierId: string }> {
  await writeDrive(path, { kind: "sensors", compression, scale });
  const recordingId = await upload(cloud, path, `drive ${compression}`);
  const data = await readFile(path);
  await rm(path);
  const carrier = `${path}.carrier`;
  await writeMcapFile(carrier, { durationSeconds: 1, attachments: [{ name: "drive.mcap", data }] });
  const carrierId = await upload(cloud, carrier, `carrier ${compression}`);
  await rm(carrier);
  return { recordingId, carrierId };
}

/** Uploads one stream; returns the id of the imported recording. */
async function upload(cloud: ControlPlane, path: string, key: string): Promise<string> {
  const body = { filename: "drive.mcap", deviceName: "bench", key };
  const { link, requestId } = await cloud.admin.call(api.uploads.create, body);
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
  for (;;) {
    const query = { requestId, showCompleted: true, showQuarantined: true };
    const [pending] = await cloud.admin.call(api.pendingImports.list, query);
    if (pending?.status === "complete") break;
    if (pending?.terminal) throw new Error(`the import failed: ${pending.error}`);
    await delay(POLL_MS);
  }
  return (await cloud.admin.call(api.recordings.get, { keyOrId: key })).id;
}

/**
 * Makes a link to unchanged bytes of the store. No route serves a whole stored recording yet: once one does, such as `GET
 * /v1/data/pending-imports/{requestId}/file`, it can be used here, and the recording with the attachment can be removed.
 */
async function plainLink({ admin, adminKey, url }: ControlPlane, recordingId: string): Promise<string> {
  const [attachment] = await admin.call(api.attachments.list, { recordingId });
  const { headers, body } = await request(`${url}/v1/recording-attachments/${attachment!.id}/download`, {
    headers: { authorization: `Bearer ${adminKey}` },
  });
  await body.dump();
  return headers.location as string;
}

async function exportLink({ admin }: ControlPlane, recordingId: string, compression: Compression): Promise<string> {
  return (await admin.call(api.exports.create, { recordingId, compressionFormat: compression })).link;
}

/** Downloads and discards the bytes. */
async function download({ program }: ControlPlane, link: string): Promise<Downloaded> {
  const before = await figuresOf(program.pid);
  const startedMs = performance.now();
  const { body, statusCode } = await request(link);
  if (statusCode !== 200) throw new Error(`${link} answered ${statusCode}: ${await body.text()}`);
  let firstByteMs = 0;
  let bytes = 0;
  for await (const piece of body) {
    firstByteMs ||= performance.now() - startedMs;
    bytes += (piece as Uint8Array).byteLength;
  }
  const ms = performance.now() - startedMs;
  const after = await figuresOf(program.pid);
  return { ms, firstByteMs, bytes, cpuMs: 1000 * (after.cpuSeconds - before.cpuSeconds) };
}
