import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { test } from "node:test";
import { inspectRecording } from "./inspect/inspect.ts";
import { bytesSource } from "./sources/source.ts";
import { type FieldLook, lookAtFieldFile } from "./testing/look-at-field-file.ts";
import { salvagePool } from "./testing/salvage-bytes.ts";
import { field2Folder, listSharedFiles, skipWithout } from "./testing/shared-data.ts";

/** The contents of the `.json` beside a file: what a salvage gives at least, and what was ever written. */
interface Bounds {
  readonly messages: number;
  readonly atMost: number;
  readonly topics: Record<string, { readonly count: number }>;
}

for (const path of listSharedFiles(field2Folder, ".json")) {
  const recording = path.slice(0, -".json".length);
  const name = basename(recording);
  test(`survey and salvage give at least what a scan byte by byte finds in ${name}`, {
    skip: skipWithout(field2Folder),
  }, async () => {
    const bounds = JSON.parse(await readFile(path, "utf8")) as Bounds;
    requireWithin(await lookAtFieldFile(await readFile(recording), name, salvagePool), bounds);
  });
}

function requireWithin({ surveyed, salvaged, state }: FieldLook, { messages, atMost, topics }: Bounds): void {
  const sum = Object.values(salvaged).reduce((count, topic) => count + topic.count, 0);
  assert.ok(sum >= messages && sum <= atMost, `${sum} messages, at least ${messages} and at most ${atMost}`);
  for (const [topic, { count }] of Object.entries(topics)) assert.ok(salvaged[topic]!.count >= count, topic);
  assert.deepEqual(Object.keys(salvaged).sort(), Object.keys(topics).sort());
  // Only reading every byte shows what is damaged if the summary is whole.
  if (state !== "finished") assert.deepEqual([surveyed.count, surveyed.topics], [sum, Object.keys(topics).sort()]);
}

for (const path of listSharedFiles(field2Folder, "").filter(
  (each) => /\.mcap(\.zstd)?$/.test(each) && each.includes("g_rosbag2_folder"),
))
  test(`${basename(path)} says that it is compressed as a whole, and what opens it`, async () => {
    const found = await inspectRecording(bytesSource(await readFile(path)), { fileName: path });
    assert.ok(found.state === "unsupported");
    assert.match(found.reason.text, /compressed as a whole with zstd.*`zstd -d /);
  });
