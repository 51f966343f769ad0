import assert from "node:assert/strict";
import { test } from "node:test";
import { inspectRecording } from "../inspect.ts";
import { bytesSource } from "../source.ts";
import { collect } from "../testing/collect.ts";
import { corrupt } from "../testing/corrupt.ts";
import { makeBag } from "../testing/make-bag.ts";
import { makeMcap } from "../testing/make-mcap.ts";
import { type ReadMessage, readIndexedMessages, readMessages } from "../testing/read-messages.ts";
import { SalvageEmpty, type SalvageOptions, salvageRecording } from "./salvage-recording.ts";

const describe: SalvageOptions["describe"] = ({ lostBytes }) => ({
  name: "downlink.salvage",
  metadata: { lostBytes: `${lostBytes}` },
});

function salvage(bytes: Uint8Array, fileName = "run.mcap"): Promise<Uint8Array> {
  return collect(salvageRecording(bytesSource(bytes), { fileName, describe }));
}

function contentOf(messages: readonly ReadMessage[]): string[] {
  return messages.map(({ topic, logTimeNs, data }) => `${topic} ${logTimeNs} ${Buffer.from(data).toString("base64")}`);
}

for (const variant of [
  { chunkBytes: 20_000 },
  { isChunked: false },
  { compression: "" as const, chunkBytes: 20_000 },
]) {
  test(`a recording that was cut off gives every message before the cut, as a finished recording: ${JSON.stringify(variant)}`, async () => {
    const whole = await makeMcap(variant);
    const cut = whole.slice(0, Math.floor(whole.byteLength * 0.6));
    const told = await inspectRecording(bytesSource(cut), { fileName: "run.mcap", salvage: true });
    assert.equal(told.state, "incomplete");

    const salvaged = await salvage(cut);
    const inspection = await inspectRecording(bytesSource(salvaged), { fileName: "run.mcap", verifyChunks: true });
    assert.ok(inspection.state === "finished" && told.state === "incomplete" && told.salvage);
    const { startNs, endNs, messageCount, lostBytes } = told.salvage;
    const { summary } = inspection;
    assert.deepEqual([summary.startNs, summary.endNs, summary.messageCount], [startNs, endNs, messageCount]);
    assert.deepEqual(summary.metadata.at(-1), { name: "downlink.salvage", metadata: { lostBytes: `${lostBytes}` } });
    const originals = new Set(contentOf(readMessages(whole)));
    assert.ok(contentOf(await readIndexedMessages(salvaged)).every((message) => originals.has(message)));
    assert.ok(messageCount > originals.size / 3, `${messageCount} of ${originals.size}`);
  });
}

test("a bag that was never closed gives its whole chunks", async () => {
  const salvaged = await salvage(await makeBag({ isFinished: false }), "run.bag.active");
  const whole = await makeBag({});
  const inspection = await inspectRecording(bytesSource(salvaged), { fileName: "run.mcap" });
  const original = await inspectRecording(bytesSource(whole), { fileName: "run.bag" });
  assert.ok(inspection.state === "finished" && original.state === "finished");
  assert.equal(inspection.summary.messageCount, original.summary.messageCount);
});

test("a salvage has no key: the recording, should it be finished later, keeps it", async () => {
  const identity = { deviceName: "rover", key: "run-7" };
  const whole = await makeMcap({ metadata: [{ name: "downlink", metadata: identity }] });
  const inspection = await inspectRecording(bytesSource(await salvage(whole.slice(0, -100))), { fileName: "a.mcap" });
  assert.ok(inspection.state === "finished");
  assert.deepEqual(inspection.summary.identity, { deviceName: "rover" });
});

test("whatever was done to a file, its salvage is a finished recording, or it is said that nothing can be read", async () => {
  const attachments = [0, 1].map((seed) => ({ name: `map-${seed}.bin`, data: new Uint8Array(20_000).fill(seed + 1) }));
  const whole = await makeMcap({ chunkBytes: 20_000, attachments });
  let salvaged = 0;
  for (const { name, bytes, fileName } of corrupt(whole, "run.mcap")) {
    try {
      const inspection = await inspectRecording(bytesSource(await salvage(bytes, fileName)), {
        fileName: "a.mcap",
        verifyChunks: true,
      });
      assert.ok(inspection.state === "finished" || inspection.state === "empty", `${name}: ${inspection.state}`);
      salvaged += 1;
    } catch (error) {
      assert.ok(error instanceof SalvageEmpty, `${name}: ${String(error)}`);
    }
  }
  assert.ok(salvaged > 20, `${salvaged} variants`);
});
