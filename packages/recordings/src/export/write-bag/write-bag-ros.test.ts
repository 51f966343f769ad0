import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after, test } from "node:test";
import { exportBagBytes } from "../../testing/export-bytes.ts";
import { makeBag } from "../../testing/make-bag.ts";
import { readBagsInOrder, topicOf } from "../../testing/read-bag-file.ts";
import { requireSoundBag } from "../../testing/require-sound-bag.ts";
import { type BagVerdict, digestTopics, judgeBags, runRosbag, skipWithoutRosbag } from "../../testing/rosbag-judge.ts";
import { listSharedFiles, realFolder, skipWithout } from "../../testing/shared-data.ts";
import { slowTest } from "../../testing/slow-test.ts";
import { type BagMessage, makeBagMessages, writeBagMessages } from "../../testing/write-bag-messages.ts";
import type { BagCompression } from "./write-bag.ts";

const compressions = ["", "lz4"] as const;
const skip = skipWithoutRosbag();

const folder = await mkdtemp(join(tmpdir(), "bags-"));
after(() => rm(folder, { recursive: true }));

/** Answers what ROS must find. */
function verdictOn(messages: readonly BagMessage[], compression: BagCompression): BagVerdict {
  const read = messages.map((message) => ({ ...message, topic: topicOf(message) }));
  const compressionNames = messages.length > 0 ? [compression || "none"] : [];
  return { messageCount: messages.length, compressions: compressionNames, topics: digestTopics(read) };
}

test("ROS reads what was written: the same counts and contents for each topic", { skip }, async () => {
  const messages = await readBagsInOrder(
    await makeBag({ isReversed: true, chunkBytes: 3000, durationSeconds: 20 }),
    await makeBag({ compression: "none" }),
  );
  const selections = [
    messages,
    messages.filter((message) => topicOf(message) === "/status"),
    makeBagMessages([3_000_000, 0, 5_000_000, 1, 800_000], 5n),
    [],
  ];
  const paths: string[] = [];
  const expected: BagVerdict[] = [];
  for (const compression of compressions) {
    for (const selected of selections) {
      paths.push(join(folder, `${paths.length}.bag`));
      await writeFile(paths.at(-1)!, await writeBagMessages(selected, { compression }));
      expected.push(verdictOn(selected, compression));
    }
  }
  assert.deepEqual(await judgeBags(paths), expected);
});

slowTest("ROS reads the export of a topic and a window from bags that overlap", { skip }, async () => {
  const bags = await Promise.all([makeBag({ isReversed: true, chunkBytes: 3000 }), makeBag({ compression: "none" })]);
  const [startNs, endNs] = [1_767_323_045_500_000_000n, 1_767_323_046_000_000_000n];
  const selected = (await readBagsInOrder(...bags)).filter(
    (message) => topicOf(message) === "/imu" && message.logTimeNs >= startNs && message.logTimeNs <= endNs,
  );
  for (const compression of compressions) {
    const path = join(folder, `window-${compression}.bag`);
    await writeFile(path, await exportBagBytes(bags, { compression, topics: ["/imu"], startNs, endNs }));
    assert.deepEqual(await judgeBags([path]), [verdictOn(selected, compression)]);
  }
});

slowTest("`rosbag check`, `rosbag info` and `rosbag reindex` accept what was written", { skip }, async () => {
  const topics = [{ topic: "/status", type: "std_msgs/String" as const, rateHz: 50 }];
  const messages = await readBagsInOrder(await makeBag({ topics }));
  const [full, empty] = [join(folder, "full.bag"), join(folder, "empty.bag")];
  await writeFile(full, await writeBagMessages(messages, { compression: "lz4" }));
  await writeFile(empty, await writeBagMessages([]));
  for (const path of [full, empty]) assert.match(await runRosbag("check", path), /does not need any migrations/);
  await runRosbag("reindex", full);
  assert.deepEqual(await judgeBags([full]), [verdictOn(messages, "lz4")]);
  assert.match(await runRosbag("info", full), /messages: +100\n(.*\n)*.*\/status +100 msgs/);
});

slowTest("real bags are exported with all they hold", { skip: skipWithout(realFolder) }, async (t) => {
  const paths: string[] = [];
  const expected: BagVerdict[] = [];
  for (const path of listSharedFiles(realFolder, ".bag")) {
    const bytes = await readFile(path);
    if (bytes.byteLength === 0) continue;
    const messages = await readBagsInOrder(bytes);
    for (const compression of compressions) {
      const bag = await exportBagBytes([bytes], { compression });
      await requireSoundBag(bag, messages);
      paths.push(join(folder, `${compression}-${basename(path)}`));
      await writeFile(paths.at(-1)!, bag);
      expected.push(verdictOn(messages, compression));
    }
  }
  if (skip) return t.diagnostic(skip);
  assert.deepEqual(await judgeBags(paths), expected);
});
