import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { inspectRecording } from "../inspect/inspect.ts";
import { bytesSource } from "../sources/source.ts";
import { readBagChunks, topicOf } from "./read-bag-file.ts";
import { readBagMessages } from "./read-bag-messages.ts";
import type { BagMessage } from "./write-bag-messages.ts";

/** Requires that our own reader, verifying everything, and an independent one find these messages, in this order. */
export async function requireSoundBag(bag: Uint8Array, messages: readonly BagMessage[]): Promise<void> {
  const inspection = await inspectRecording(bytesSource(bag), { fileName: "a.bag", verifyChunks: true });
  assert.equal(inspection.state, messages.length > 0 ? "finished" : "empty");
  const expected = linesOf(messages);
  assert.deepEqual(linesOf((await readBagChunks(bag)).flat()), expected);
  if (messages.length === 0) return;
  // The library returns messages of the same time connection by connection.
  assert.deepEqual((await readBagMessages(bag)).map(lineOf).sort(), expected.sort());
}

function linesOf(messages: readonly BagMessage[]): string[] {
  return messages.map((message) => lineOf({ ...message, topic: topicOf(message) }));
}

function lineOf({ topic, logTimeNs, data }: { topic: string; logTimeNs: bigint; data: Uint8Array }): string {
  return `${logTimeNs} ${topic} ${createHash("sha256").update(data).digest("base64")}`;
}
