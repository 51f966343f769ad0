import assert from "node:assert/strict";
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { scanTree, TRASH_NAME } from "../files/scan.ts";
import { findTrash, makeTrash, originalName, restore } from "./trash.ts";

function makeRoot(t: TestContext): string {
  const root = mkdtempSync(join(tmpdir(), "downlink-trash-"));
  t.after(() => rmSync(root, { recursive: true }));
  return root;
}

async function putInTrash(root: string, content: string) {
  const trashed = await findTrash(root, { path: "runs/a.mcap", versionId: "version-1" });
  await makeTrash(trashed.directory);
  writeFileSync(trashed.entry, content);
  return trashed.entry;
}

test("a file in the trash goes back to its place, and its directory is made again where it is gone", async (t) => {
  const root = makeRoot(t);
  mkdirSync(join(root, "runs"));
  const entry = await putInTrash(root, "one");
  rmSync(join(root, "runs"), { recursive: true });
  assert.equal(await restore(entry, root, "runs/a.mcap"), "runs/a.mcap");
  assert.equal(readFileSync(join(root, "runs/a.mcap"), "utf8"), "one");
  assert.deepEqual(readdirSync(join(root, TRASH_NAME)), []);
});

test("a file that goes back replaces nothing: it gets a name beside what is there", async (t) => {
  const root = makeRoot(t);
  mkdirSync(join(root, "runs"));
  writeFileSync(join(root, "runs/a.mcap"), "new");
  for (const [content, name] of [
    ["one", "a.restored-1.mcap"],
    ["two", "a.restored-2.mcap"],
  ] as const) {
    const entry = await putInTrash(root, content);
    assert.equal(await restore(entry, root, "runs/a.mcap"), join("runs", name));
    assert.equal(readFileSync(join(root, "runs", name), "utf8"), content);
  }
  assert.equal(readFileSync(join(root, "runs/a.mcap"), "utf8"), "new");
});

test("a move back that was interrupted is only finished", async (t) => {
  const root = makeRoot(t);
  mkdirSync(join(root, "runs"));
  const entry = await putInTrash(root, "one");
  linkSync(entry, join(root, "runs/a.mcap"));
  assert.equal(await restore(entry, root, "runs/a.mcap"), "runs/a.mcap");
  assert.deepEqual(readdirSync(join(root, "runs")), ["a.mcap"]);
  assert.equal(statSync(join(root, "runs/a.mcap")).nlink, 1);
});

test("the trash is never scanned, whatever is in it", async (t) => {
  const root = makeRoot(t);
  mkdirSync(join(root, "runs"));
  await putInTrash(root, "one");
  const options = { root, rootDevice: 0n, matches: () => true, signal: AbortSignal.timeout(10_000) };
  const { files, listed } = await scanTree(options);
  assert.deepEqual([...files.keys()], []);
  assert.ok(!listed.has(TRASH_NAME));
});

test("a link that leads out of the root is no trash", async (t) => {
  const root = makeRoot(t);
  const elsewhere = makeRoot(t);
  symlinkSync(elsewhere, join(root, TRASH_NAME));
  await assert.rejects(makeTrash(join(root, TRASH_NAME)), /is not a directory/);
});

test("a name in the trash says which file it was, as far as it fits", async (t) => {
  const root = makeRoot(t);
  const { entry } = await findTrash(root, { path: "a.b.mcap", versionId: "v-1" });
  assert.equal(originalName(entry), "a.b.mcap");
  const long = await findTrash(root, { path: `${"ü".repeat(120)}.mcap`, versionId: "0123456789abcdefghij" });
  assert.equal(originalName(long.entry), "recording.mcap");
});
