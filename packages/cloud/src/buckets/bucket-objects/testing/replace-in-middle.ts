import assert from "node:assert/strict";
import type { S3Proxy } from "../../../store/bucket-uploads/testing/s3-proxy.ts";
import { anotherMcap } from "./start-customer.ts";

interface Bucket {
  readonly proxy: S3Proxy;
  put(name: string, bytes: Uint8Array): Promise<void>;
  scan(): Promise<unknown>;
  recordings(): Promise<readonly { readonly id: string }[]>;
  exportOf(recordingId: string): Promise<Response>;
}

const LARGE = { durationSeconds: 130, compression: "" } as const;
const BEGUN_BYTES = 1_000_000;

/**
 * Exports a recording of several requests, and replaces its object once some of it has come, and before a request for bytes behind its
 * middle is answered: the export must break off, and what came must be the beginning of the original.
 */
export async function replaceInItsMiddle({ proxy, put, scan, recordings, exportOf }: Bucket): Promise<void> {
  const original = await anotherMcap({}, LARGE);
  await put("a.mcap", original);
  await scan();
  const [{ id } = assert.fail()] = await recordings();
  const whole = Buffer.from(await (await exportOf(id)).arrayBuffer());

  const other = await anotherMcap({}, LARGE);
  const begun = Promise.withResolvers<void>();
  let replaced: Promise<void> | undefined;
  proxy.setFaults(async (call, headers) => {
    const [, start] = /bytes=(\d+)-/.exec(String(headers.range ?? headers["x-ms-range"])) ?? [];
    if (/^GET \S+a\.mcap/.test(call) && Number(start) >= original.byteLength / 2) {
      replaced ??= begun.promise.then(() => put("a.mcap", other));
      await replaced;
    }
    return "forward" as const;
  });
  const pieces: Buffer[] = [];
  let receivedBytes = 0;
  await assert.rejects(async () => {
    for await (const piece of (await exportOf(id)).body!) {
      pieces.push(Buffer.from(piece));
      receivedBytes += piece.byteLength;
      if (receivedBytes > BEGUN_BYTES) begun.resolve();
    }
  });
  assert.ok(replaced, "the object was replaced while it was read");
  const received = Buffer.concat(pieces);
  assert.ok(received.byteLength < whole.byteLength);
  assert.ok(received.equals(whole.subarray(0, received.byteLength)), "what came is the beginning of the original");
}
