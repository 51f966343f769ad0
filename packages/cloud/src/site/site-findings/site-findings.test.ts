import assert from "node:assert/strict";
import { test } from "node:test";
import { bytesSource, indexRecording } from "@downlink/recordings";
import { jumpedSpans, makeClockJump, makeMcap } from "@downlink/recordings/testing";
import type { ImportableSummary } from "../../background/indexing/judge-file.ts";
import { packFindings, toSummary, unpackFindings } from "./site-findings.ts";

async function sendFindings(bytes: Uint8Array) {
  const source = bytesSource(bytes);
  const indexed = await indexRecording(source, { fileName: "a.mcap", write: async () => undefined });
  assert.ok(indexed.state === "finished");
  const summary = indexed.summary as ImportableSummary;
  const pieces = packFindings({ contentSha256: indexed.sha256, summary });
  return toSummary(unpackFindings(pieces), { sizeBytes: BigInt(source.sizeBytes) });
}

test("a site reports when the messages of a recording are whose clock jumped", async () => {
  assert.deepEqual((await sendFindings(await makeClockJump())).spans, jumpedSpans);
  assert.equal((await sendFindings(await makeMcap())).spans, undefined);
});
