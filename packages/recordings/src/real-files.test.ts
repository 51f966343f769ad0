import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { test } from "node:test";
import { inspectRecording } from "./inspect/inspect.ts";
import { FileSource } from "./sources/file-source.ts";
import { exportBytes } from "./testing/export-bytes.ts";
import { readBagMessages } from "./testing/read-bag-messages.ts";
import { type ReadMessage, readIndexedMessages, readMessages } from "./testing/read-messages.ts";
import { listSharedFiles, realFolder, skipWithout } from "./testing/shared-data.ts";

const skip = skipWithout(realFolder);

/** State, messages, topics, attachments, metadata records. */
const expected: Record<string, [string, number?, number?, number?, number?]> = {
  "camera-images.mcap": ["finished", 30, 3, 0, 0],
  "mcap-rs-small.mcap": ["finished", 2, 1, 0, 0],
  "ros1-empty-file.bag": ["incomplete"],
  "ros1-example-bz2.bag": ["finished", 8647, 9, 0, 0],
  "ros1-example-lz4.bag": ["finished", 8647, 9, 0, 0],
  "ros1-example-unsorted-chunks.bag": ["finished", 3, 1, 0, 0],
  "ros1-example.bag": ["finished", 8647, 9, 0, 0],
  "ros1-no-messages.bag": ["empty", 0, 0, 0, 0],
  "rosbag2-cdr.mcap": ["finished", 7, 2, 0, 0],
  "rosbag2-seek.mcap": ["finished", 5, 1, 0, 0],
  "rosbag2-split-0.mcap": ["finished", 1324, 1, 0, 0],
  "rosbag2-split-1.mcap": ["finished", 1324, 1, 0, 0],
  "rosbag2-split-2.mcap": ["finished", 529, 1, 0, 0],
  "rosbag2-talker.mcap": ["finished", 20, 3, 0, 0],
  "rosbag2-topics-and-services.mcap": ["finished", 13, 5, 0, 2],
  "sdk-empty.mcap": ["empty", 0, 0, 0, 0],
};

test("every real recording is what it is, by its index and by a full scan", { skip }, async () => {
  const paths = [...listSharedFiles(realFolder, ".mcap"), ...listSharedFiles(realFolder, ".bag")];
  assert.deepEqual(paths.map((path) => basename(path)).sort(), Object.keys(expected).sort());
  for (const path of paths) {
    await using source = await FileSource.open(path);
    for (const verifyChunks of [false, true]) {
      const inspection = await inspectRecording(source, { fileName: path, verifyChunks });
      if (!("summary" in inspection)) {
        assert.deepEqual([inspection.state, inspection.reason.code], ["incomplete", "EmptyFile"], path);
        continue;
      }
      const { messageCount, topics, attachments, metadata, method } = inspection.summary;
      const found = [inspection.state, messageCount, topics.length, attachments.length, metadata.length];
      assert.deepEqual(found, expected[basename(path)], path);
      assert.equal(method, verifyChunks ? "scan" : "index", path);
    }
  }
});

test("spans and counts of the real recordings are those that independent libraries read", { skip }, async () => {
  for (const path of listSharedFiles(realFolder, "")) {
    if (expected[basename(path)]?.[0] !== "finished") continue;
    const messages = await readAny(path);
    const times = messages.map(({ logTimeNs }) => logTimeNs).sort((a, b) => Number(a - b));
    await using source = await FileSource.open(path);
    const inspection = await inspectRecording(source, { fileName: path });
    assert.ok(inspection.state === "finished");
    const { summary } = inspection;
    assert.deepEqual(
      [summary.messageCount, summary.startNs, summary.endNs],
      [messages.length, times[0], times.at(-1)],
      path,
    );
    for (const { topic, messageCount } of summary.topics) {
      assert.equal(messageCount, messages.filter((message) => message.topic === topic).length, `${path} ${topic}`);
    }
  }
});

test("every real recording exports to the messages that an independent library reads, in order of time", {
  skip,
}, async () => {
  for (const path of listSharedFiles(realFolder, "")) {
    if (expected[basename(path)]?.[0] !== "finished") continue;
    await using source = await FileSource.open(path);
    const exported = await exportBytes(source, { fileName: path });
    const mine = readMessages(exported);
    assert.ok(
      mine.every(({ logTimeNs }, index) => index === 0 || logTimeNs >= mine[index - 1]!.logTimeNs),
      path,
    );
    const found = digest(mine);
    assert.deepEqual(found, digest(await readAny(path)), path);
    assert.deepEqual(digest(await readIndexedMessages(exported)), found, path);
  }
});

type Comparable = Pick<ReadMessage, "topic" | "logTimeNs" | "data">;

const alreadyRead = new Map<string, Promise<Comparable[]>>();

/** The messages that an independent library reads. Each file is read once. */
function readAny(path: string): Promise<Comparable[]> {
  const reading = alreadyRead.get(path) ?? readByLibrary(path);
  alreadyRead.set(path, reading);
  return reading;
}

async function readByLibrary(path: string): Promise<Comparable[]> {
  const bytes = await readFile(path);
  return path.endsWith(".bag") ? readBagMessages(bytes) : readMessages(bytes);
}

/** Equal times may come in any order. */
function digest(messages: readonly Comparable[]): string[] {
  return messages
    .map(({ topic, logTimeNs, data }) => `${logTimeNs} ${topic} ${Buffer.from(data).toString("base64")}`)
    .sort();
}
