import { readFile } from "node:fs/promises";
import { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { api } from "@downlink/protocol";
import { makeZeroMcap } from "@downlink/recordings/testing";
import { request } from "undici";
import type { ControlPlane } from "../processes/control-plane.ts";

export interface BigImport {
  readonly sizeBytes: number;
  readonly messageCount: number;
  readonly uploadSeconds: number;
  /** The time from the last stored byte to the complete recording. */
  readonly importSeconds: number;
  /** The most memory that the control plane held, and what it held before. Its Postgres is a process of its own. */
  readonly peakBytes: number;
  readonly beforeBytes: number;
}

const POLL_MS = 200;

/** Uploads an MCAP of zeros through a link, as one stream, and waits until its recording, named by `key`, is complete. */
export async function importZeros(cloud: ControlPlane, aboutBytes: number, key: string): Promise<BigImport> {
  const file = makeZeroMcap(aboutBytes);
  const body = { filename: `${key}.mcap`, deviceName: "big", key };
  const { link, requestId } = await cloud.admin.call(api.uploads.create, body);
  const beforeBytes = (await memoryOf(cloud.program.pid)).nowBytes;
  const started = performance.now();
  await put(link, Readable.from(file.pieces(), { objectMode: false, highWaterMark: 1024 * 1024 }), file.sizeBytes);
  const uploaded = performance.now();
  await untilComplete(cloud, requestId);
  const { peakBytes } = await memoryOf(cloud.program.pid);
  return {
    sizeBytes: file.sizeBytes,
    messageCount: file.chunkCount,
    uploadSeconds: (uploaded - started) / 1000,
    importSeconds: (performance.now() - uploaded) / 1000,
    peakBytes,
    beforeBytes,
  };
}

async function put(link: string, body: Readable, sizeBytes: number): Promise<void> {
  const headers = { "content-type": "application/octet-stream", "content-length": String(sizeBytes) };
  const answer = await request(link, { method: "PUT", headers, body, headersTimeout: 0, bodyTimeout: 0 });
  if (answer.statusCode !== 200) throw new Error(`the upload was refused: ${await answer.body.text()}`);
  await answer.body.dump();
}

async function untilComplete({ admin }: ControlPlane, requestId: string): Promise<void> {
  for (;;) {
    const query = { requestId, showCompleted: true, showQuarantined: true };
    const [pending] = await admin.call(api.pendingImports.list, query);
    if (pending?.status === "complete") return;
    if (pending?.status === "error") throw new Error(`the import failed: ${pending.error}`);
    await delay(POLL_MS);
  }
}

/** Reads the figures of Linux. */
async function memoryOf(pid: number): Promise<{ nowBytes: number; peakBytes: number }> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  const bytesOf = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(status)![1]) * 1024;
  return { nowBytes: bytesOf("VmRSS"), peakBytes: bytesOf("VmHWM") };
}
