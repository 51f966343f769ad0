import assert from "node:assert/strict";
import { mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { NetworkError } from "@downlink/client";
import { serve } from "@downlink/client/testing";
import { InterruptedError } from "../failures/failures.ts";
import type { Service } from "../login/open-service.ts";
import { exportRecording } from "./export-recording.ts";

const flags = { format: "mcap", compression: "lz4" } as const;

/** Answers each call with what an export needs, and the link of a server that sends a part and no end. */
async function startExport(cut: boolean) {
  const begun = Promise.withResolvers<void>();
  const server = await serve((_request, response) => {
    response.write(Buffer.alloc(64 * 1024), () => {
      if (cut) response.destroy();
      begun.resolve();
    });
  });
  const interrupting = new AbortController();
  const call = async () => ({ id: "rec_1", link: server.url, fileName: "a.mcap" });
  const service = { client: { call }, dispatcher: undefined, signal: interrupting.signal } as unknown as Service;
  const folder = mkdtempSync(join(tmpdir(), "downlink-dl-"));
  const exporting = exportRecording(service, "rec_1", { ...flags, output: join(folder, "a.mcap") });
  return { server, exporting, folder, begun: begun.promise, interrupting };
}

test("a connection that breaks leaves nothing behind, and is no success", async () => {
  const { server, exporting, folder } = await startExport(true);
  await using _server = server;
  await assert.rejects(exporting, (error) => error instanceof NetworkError);
  assert.deepEqual(readdirSync(folder), []);
});

test("a signal in the middle leaves nothing behind, and says which it was", async () => {
  const { server, exporting, folder, begun, interrupting } = await startExport(false);
  await using _server = server;
  await begun;
  interrupting.abort(new InterruptedError("SIGTERM"));
  await assert.rejects(exporting, (error) => error instanceof InterruptedError && error.exitCode === 143);
  assert.deepEqual(readdirSync(folder), []);
});
