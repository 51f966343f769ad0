import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { ApiCallError, NetworkError } from "@downlink/client";
import { serve } from "@downlink/client/testing";
import { api } from "@downlink/protocol";
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

/** Returns a service whose key may export, and not list topics; the recording has only some of those that are asked for. */
function mayOnlyExport(link: object): Service {
  const call = async (operation: unknown) => {
    if (operation !== api.topics.list) return { id: "rec_1", start: 10n, end: 20n, fileName: "a.mcap", ...link };
    throw new ApiCallError({ status: 403, code: "MissingCapability", message: "no", requestId: undefined });
  };
  return { client: { call }, dispatcher: undefined, signal: new AbortController().signal } as unknown as Service;
}

test("a key that may not list topics is refused an empty file all the same, without the names of others", async () => {
  const output = join(mkdtempSync(join(tmpdir(), "downlink-dl-")), "a.mcap");
  const service = mayOnlyExport({ unknownTopics: ["/frob"] });
  const exporting = exportRecording(service, "rec_1", { ...flags, output, topic: ["/frob"] });
  await assert.rejects(exporting, /^RefusedError: the recording has no topic \/frob$/);
});

test("a time at which the recording has nothing is refused, unless its attachments are wanted", async () => {
  await using server = await serve((_request, response) => void response.end("whole"));
  const output = join(mkdtempSync(join(tmpdir(), "downlink-dl-")), "a.mcap");
  const service = mayOnlyExport({ link: server.url });
  const late = { ...flags, output, start: "2026-01-01T00:00:00Z" };
  await assert.rejects(
    exportRecording(service, "rec_1", late),
    /^RefusedError: the recording has no data at that time/,
  );
  await exportRecording(service, "rec_1", { ...late, attachments: true });
  assert.equal(readFileSync(output, "utf8"), "whole");
});

test("an empty flag or argument is refused by its name, before anything is called", async () => {
  const service = { client: {} } as unknown as Service;
  await assert.rejects(exportRecording(service, "", flags), /^UsageError: RECORDING must not be empty$/);
  await assert.rejects(
    exportRecording(service, "a", { ...flags, project: "" }),
    /^UsageError: --project must not be empty$/,
  );
});
