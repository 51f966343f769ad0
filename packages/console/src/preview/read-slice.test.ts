import assert from "node:assert/strict";
import { test } from "node:test";
import { sampleTopics } from "@downlink/messages/testing/sample-topics";
import { makeExport, streamOf } from "../testing/make-export.ts";
import { readSlice } from "./read-slice.ts";

test("an export is read whole, in whatever pieces it comes", async () => {
  const bytes = await makeExport(sampleTopics(20));
  for (const pieceBytes of [1, 7, 4096, bytes.byteLength]) {
    const slice = await readSlice(streamOf(bytes, pieceBytes));
    assert.deepEqual([slice.end, slice.bytes, slice.messageCount], ["complete", bytes.byteLength, 80]);
  }
});

test("an export cut at any byte gives the messages before the cut, and says that it is damaged", async () => {
  const bytes = await makeExport(sampleTopics(3));
  let most = 0;
  for (let length = 0; length < bytes.byteLength; length += 1) {
    const { end, messageCount } = await readSlice(streamOf(bytes.subarray(0, length)));
    assert.equal(end, "damage", `after ${length} bytes`);
    assert.ok(messageCount >= most, `after ${length} bytes`);
    most = messageCount;
  }
  assert.equal(most, 12);
});

test("no more than the limits is asked for, and the stream is cancelled there", async () => {
  const bytes = await makeExport(sampleTopics(2000));
  const stream = streamOf(bytes, 10_000);
  const slice = await readSlice(stream, { maxBytes: 100_000 });
  assert.deepEqual([slice.end, slice.bytes, stream.pulled], ["limit", 100_000, 90_000]);
  const few = await readSlice(streamOf(bytes, bytes.byteLength), { maxMessages: 100 });
  assert.deepEqual([few.end, few.messageCount], ["limit", 100]);
});

test("any byte changed to any other ends in messages or in damage, never in an error", async () => {
  const bytes = await makeExport(sampleTopics(2));
  const ends = new Set<string>();
  for (let at = 0; at < bytes.byteLength; at += 1) {
    const changed = bytes.slice();
    changed[at] = (changed[at]! + 1 + (at % 255)) % 256;
    ends.add((await readSlice(streamOf(changed))).end);
  }
  assert.deepEqual(ends, new Set(["complete", "damage"]));
});

test("times count from the first message, and messages of each topic come in order", async () => {
  const [json] = sampleTopics(4);
  const [first, second, third, fourth] = json!.messages;
  const { topics } = await readSlice(
    streamOf(await makeExport([{ ...json!, messages: [second!, fourth!, first!, third!] }])),
  );
  assert.deepEqual(
    topics.get("/json")!.messages.map(({ timeNs }) => timeNs),
    [-1e7, 0, 1e7, 2e7],
  );
});
