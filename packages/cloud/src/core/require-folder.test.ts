import assert from "node:assert/strict";
import { chmod, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { requireFolder } from "./require-folder.ts";

const root = await mkdtemp(join(tmpdir(), "require-folder-"));
after(() => rm(root, { recursive: true }));

test("a folder that is absent is made, with those above it, and nothing stays in it", async () => {
  const folder = join(root, "a", "b", "c");
  for (let time = 0; time < 2; time++) await requireFolder(folder, "X");
  assert.deepEqual(await readdir(folder), []);
});

test("a folder in which nothing can be written is refused by its name, the reason, and the setting that chose it", async () => {
  const file = join(root, "file");
  await writeFile(file, "");
  await symlink("loop", join(root, "loop"));
  const closed = join(root, "closed");
  await mkdir(closed);
  await chmod(closed, 0o555);
  const refused: (readonly [folder: string, reason: RegExp])[] = [
    [file, /a file is in its place \(EEXIST\)/],
    [join(file, "below"), /a part of this path is a file \(ENOTDIR\)/],
    [join(root, "loop", "below"), /\(E\w+\)/],
    ...(process.platform === "linux" ? [["/proc/x/y", /no program make a folder there \(ENOENT\)/] as const] : []),
    ...(process.getuid?.() === 0 ? [] : [[closed, /this user may not write there \(EACCES\)/] as const]),
  ];
  for (const [folder, reason] of refused)
    await assert.rejects(requireFolder(folder, "DOWNLINK_DATA_DIR"), (error: Error) => {
      assert.match(error.message, reason);
      assert.ok(error.message.includes(`the folder ${folder}:`), error.message);
      return /set DOWNLINK_DATA_DIR to another one$/.test(error.message);
    });
});
