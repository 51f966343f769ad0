import assert from "node:assert/strict";
import { test } from "node:test";
import { inspectRecording } from "../inspect/inspect.ts";
import { bytesSource } from "../sources/source.ts";
import { makeMcap } from "../testing/make-mcap.ts";
import { judgeSummary } from "./judge-summary.ts";
import type { RecordingSummary } from "./summary.ts";

const inspection = await inspectRecording(bytesSource(await makeMcap({ durationSeconds: 1 })), { fileName: "a.mcap" });
assert(inspection.state === "finished");
const { summary } = inspection;
const [topic] = summary.topics;

function codeOf(change: Partial<RecordingSummary>): string | undefined {
  const refusal = judgeSummary({ ...summary, ...change });
  assert.ok(refusal === undefined || (refusal.text.length < 300 && refusal.text.isWellFormed()));
  return refusal?.code;
}

test("a name may be as long as an index can hold, in UTF-8, and no longer", () => {
  const limits = { topic: 2000, schemaName: 1000, schemaEncoding: 255, messageEncoding: 255 };
  for (const [field, maxBytes] of Object.entries(limits)) {
    assert.equal(codeOf({ topics: [{ ...topic!, [field]: "x".repeat(maxBytes) }] }), undefined, field);
    assert.equal(codeOf({ topics: [topic!, { ...topic!, [field]: "x".repeat(maxBytes + 1) }] }), "NameTooLong", field);
    assert.equal(codeOf({ topics: [{ ...topic!, [field]: "🤖".repeat(maxBytes / 4 + 1) }] }), "NameTooLong", field);
  }
});

test("all metadata records together have at most 4 MiB, however many there are", () => {
  const [MiB, short] = [1024 * 1024, { name: "m", metadata: {} }];
  assert.equal(codeOf({ metadata: [{ name: "m", metadata: { k: "v".repeat(3 * MiB) } }] }), undefined);
  assert.equal(codeOf({ metadata: [{ name: "m", metadata: { k: "v".repeat(5 * MiB) } }] }), "MetadataTooLarge");
  assert.equal(codeOf({ metadata: Array(1_000_000).fill(short) }), "MetadataTooLarge");
});

test("a flood of attachments is refused", () => {
  const attachment = { name: "a", mediaType: "", logTimeNs: 0n, createTimeNs: 0n, crc: 0, dataOffset: 0, sizeBytes: 0 };
  assert.equal(codeOf({ attachments: Array(200_000).fill(attachment) }), undefined);
  assert.equal(codeOf({ attachments: Array(200_001).fill(attachment) }), "TooManyAttachments");
  const leftOut = { channels: 0, attachments: 200_001, metadata: 0, chunks: 0 };
  assert.equal(codeOf({ attachments: [], leftOut }), "TooManyAttachments");
});
