import assert from "node:assert/strict";
import { mkdir, readdir, readFile, rename, symlink, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { slowTest } from "@downlink/recordings/testing";
import { openInboxFolder } from "./inbox-folder.ts";
import { recoverFiles } from "./received-files.ts";
import { dyingAt, dyingStore, lookTwice, openInboxScene, silent, textsOf } from "./testing/inbox-scene.ts";

const stack = new AsyncDisposableStack();
after(() => stack.disposeAsync());

/** An inbox that is a folder, over a store of its own. */
async function open() {
  const { folder, store, states, startOver } = await openInboxScene(stack);
  const root = join(folder, "inbox");
  await mkdir(root);
  const write = async (path: string, text = path) => {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  };
  const left = async () => {
    const entries = await readdir(root, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => !entry.isDirectory())
      .map(({ parentPath, name }) => join(parentPath, name).slice(root.length + 1))
      .sort();
  };
  const start = (blobs = store) => startOver(openInboxFolder(root, silent), blobs);
  return { root, store, states, write, left, start };
}

test("a file is copied under a key of its own, and leaves the inbox once its import is complete", async () => {
  const { store, states, write, left, start } = await open();
  await write("lab/a.mcap");
  const inbox = start();
  await lookTwice(inbox);
  await inbox.look();
  assert.deepEqual([await textsOf(store), await left()], [["lab/a.mcap"], ["lab/a.mcap"]]);
  states.set("lab/a.mcap", "processing");
  await inbox.look();
  assert.deepEqual(await left(), ["lab/a.mcap"]);
  states.set("lab/a.mcap", "complete");
  await inbox.look();
  assert.deepEqual([await textsOf(store), await left()], [["lab/a.mcap"], []]);
  assert.deepEqual(await Array.fromAsync(store.listNotes("inbox/")), []);
});

test("what cannot be imported goes under _quarantine/ with the reason beside it, and replaces nothing there", async () => {
  const { root, states, write, left, start } = await open();
  for (const text of ["one", "other"]) {
    await write("lab/a.mcap", text);
    states.delete("lab/a.mcap");
    const inbox = start();
    await lookTwice(inbox);
    states.set("lab/a.mcap", "error");
    await inbox.look();
  }
  const names = ["a.mcap", "a.mcap.2", "a.mcap.2.reason.txt", "a.mcap.reason.txt"].map(
    (name) => `_quarantine/lab/${name}`,
  );
  assert.deepEqual(await left(), names);
  assert.equal(await readFile(join(root, names[0]!), "utf8"), "one");
  assert.equal(await readFile(join(root, names[1]!), "utf8"), "other");
  assert.equal(await readFile(join(root, names[3]!), "utf8"), "NoEnd: it has no end\n");
});

test("a file that grows, is written under a hidden name, or is not the inbox's is not taken; a rename finishes it", async () => {
  const { root, store, write, left, start } = await open();
  const names = ["_quarantine/a.mcap", "lake/a.mcap", "_downlink/a.mcap", ".a.mcap.x7Qz", "a.mcap.part", ".git/a.mcap"];
  for (const name of names) await write(name);
  const outside = join(dirname(root), "outside.mcap");
  await writeFile(outside, "secret");
  await symlink(outside, join(root, "link.mcap"));
  await symlink(dirname(root), join(root, "links"));
  const inbox = start();
  for (let size = 1; size <= 4; size++) {
    await write("growing.mcap", "x".repeat(size));
    await inbox.look();
  }
  assert.deepEqual(await textsOf(store), []);
  await rename(join(root, "a.mcap.part"), join(root, "a.mcap"));
  await lookTwice(inbox);
  assert.deepEqual(await textsOf(store), ["a.mcap.part", "xxxx"]);
  assert.equal((await left()).length, names.length + 3);
});

test("a file that came under the same name while another one was imported is imported, too", async () => {
  const { store, states, write, left, start } = await open();
  await write("a.mcap", "first");
  const inbox = start();
  await lookTwice(inbox);
  await write("a.mcap", "second, longer");
  states.set("a.mcap", "complete");
  await inbox.look();
  assert.deepEqual(await left(), ["a.mcap"]);
  states.delete("a.mcap");
  await lookTwice(inbox);
  assert.deepEqual(await textsOf(store), ["first", "second, longer"]);
});

test("names of every kind are imported", async () => {
  const { root, store, write, start } = await open();
  const names = ["a b+c%2F.mcap", "übung 🤖.mcap", "line\nbreak.mcap", "-rf.mcap", "'$(x)'.mcap", "n".repeat(250)];
  for (const name of names) await write(`x/${name}`, name);
  await writeFile(Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0xff, 0xfe])]), "no text");
  await lookTwice(start());
  assert.deepEqual(await textsOf(store), names.toSorted());
});

slowTest(
  "killed at each durable step, the next process imports the file once, and removes it from the inbox",
  async () => {
    for (let step = 0; step < 9; step++)
      for (const end of ["complete", "error"] as const) {
        const { store, states, write, left, start } = await open();
        await write("a.mcap");
        const dying = start(dyingStore(store, dyingAt(step)));
        await lookTwice(dying).catch(() => {});
        if ((await textsOf(store)).length > 0) states.set("a.mcap", end);
        await dying.look().catch(() => {});
        await recoverFiles(store);
        const next = start();
        await lookTwice(next);
        states.set("a.mcap", end);
        await next.look();
        assert.deepEqual(await textsOf(store), ["a.mcap"], `step ${step}`);
        const rest = end === "complete" ? [] : ["_quarantine/a.mcap", "_quarantine/a.mcap.reason.txt"];
        assert.deepEqual(await left(), rest, `step ${step}`);
        assert.deepEqual(await Array.fromAsync(store.listNotes("inbox/")), []);
      }
  },
);

test("a file that is as it was is still, whatever its time says", async () => {
  const { root, store, write, start } = await open();
  await write("a.mcap");
  await utimes(join(root, "a.mcap"), 4_000_000_000, 4_000_000_000);
  await lookTwice(start());
  assert.deepEqual(await textsOf(store), ["a.mcap"]);
});
