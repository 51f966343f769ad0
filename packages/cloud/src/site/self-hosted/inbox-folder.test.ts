import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { listInbox } from "./inbox-folder.ts";

test("a folder of the inbox that cannot be read holds up no other one, and the inbox itself does", async (t) => {
  const root = await mkdtemp(join(tmpdir(), "downlink-inbox-"));
  t.after(() => rm(root, { recursive: true }));
  for (const folder of ["a", "lost+found", "z"]) {
    await mkdir(join(root, folder));
    await writeFile(join(root, folder, "run.mcap"), folder);
  }
  const unreadable: string[] = [];
  const isRefused = (folder: string) => Promise.reject(new Error(`EACCES: ${folder}`));
  const listing = { most: 10, onUnreadable: (folder: string) => void unreadable.push(folder) };
  const read = (folder: string) =>
    folder.endsWith("lost+found") ? isRefused(folder) : readdir(folder, { withFileTypes: true });
  const found = await listInbox(root, { ...listing, read });
  assert.deepEqual(found.map(({ path }) => path).sort(), ["a/run.mcap", "z/run.mcap"]);
  assert.deepEqual(unreadable, ["lost+found"]);
  await assert.rejects(listInbox(root, { ...listing, read: isRefused }), /EACCES/);
});
