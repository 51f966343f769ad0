import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { createWakeSignal } from "../loops/wake-signal.ts";
import { createDirectoryWatch } from "./watch.ts";

function setUp(t: TestContext) {
  const root = mkdtempSync(join(tmpdir(), "downlink-watch-"));
  const wakeSignal = createWakeSignal();
  const complaints: string[] = [];
  const onDegraded = (text: string) => complaints.push(text);
  const watch = createDirectoryWatch({ root, onHint: wakeSignal.notify, onDegraded, onComplete: () => {} });
  t.after(() => {
    watch[Symbol.dispose]();
    rmSync(root, { recursive: true });
  });
  const hint = () => wakeSignal.wait(t.signal);
  const follow = (...directories: string[]) => watch.follow(new Map(directories.map((path) => [path, "the same"])));
  return { root, watch, follow, hint, complaints };
}

test("a directory that is new, and whatever is made, renamed or removed in it, gives a hint", async (t) => {
  const { root, follow, hint, complaints } = setUp(t);
  mkdirSync(join(root, "day/hour"), { recursive: true });
  follow("", "day", "day/hour");
  await hint();
  const file = join(root, "day/hour/a.mcap");
  for (const change of [
    () => writeFileSync(file, "1"),
    () => renameSync(file, join(root, "day/b.mcap")),
    () => rmSync(join(root, "day/b.mcap")),
  ]) {
    change();
    await hint();
  }
  assert.deepEqual(complaints, []);
});

test("a directory that was removed and made again under the same path is watched again", async (t) => {
  const { root, follow, hint } = setUp(t);
  mkdirSync(join(root, "day"));
  follow("", "day");
  await hint();
  rmSync(join(root, "day"), { recursive: true });
  await hint();
  mkdirSync(join(root, "day"));
  await hint();
  follow("", "day");
  await hint();
  writeFileSync(join(root, "day/a.mcap"), "1");
  await hint();
});

test("a directory that took another one's place is watched, also where no notification said so", async (t) => {
  const { root, watch, hint } = setUp(t);
  mkdirSync(join(root, "day"));
  watch.follow(new Map([["day", "this"]]));
  await hint();
  renameSync(join(root, "day"), join(root, "past"));
  await hint();
  mkdirSync(join(root, "day"));
  watch.follow(new Map([["day", "that"]]));
  await hint();
  writeFileSync(join(root, "day/a.mcap"), "1");
  await hint();
});

test("a directory that has gone meanwhile is no problem", (t) => {
  const { follow, complaints } = setUp(t);
  follow("", "gone");
  assert.deepEqual(complaints, []);
});
