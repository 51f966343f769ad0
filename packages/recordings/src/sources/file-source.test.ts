import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { appendFile, mkdtemp, rename, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { FileSource } from "./file-source.ts";
import { bytesSource, SourceChangedError } from "./source.ts";

const folder = await mkdtemp(join(tmpdir(), "recordings-"));
after(() => rm(folder, { recursive: true }));

test("reads exactly the bytes asked for, each time into a buffer of its own", async () => {
  const path = join(folder, "a.mcap");
  await writeFile(path, "0123456789");
  await using file = await FileSource.open(path);
  for (const source of [file, bytesSource(Buffer.from("0123456789"))]) {
    const first = await source.read(2, 3);
    assert.equal(Buffer.from(first).toString(), "234");
    first.fill(0);
    assert.equal(Buffer.from(await source.read(2, 3)).toString(), "234");
    assert.equal((await source.read(10, 0)).byteLength, 0);
    await assert.rejects(source.read(8, 3), SourceChangedError);
    await assert.rejects(source.read(-1, 1), SourceChangedError);
  }
});

test("reads into memory that is given, all of it or not at all", async () => {
  const path = join(folder, "into.mcap");
  await writeFile(path, "0123456789");
  await using file = await FileSource.open(path);
  const memory = Buffer.from("abcdef");
  await file.readInto(memory.subarray(1, 4), 7);
  assert.equal(memory.toString(), "a789ef");
  await assert.rejects(file.readInto(memory, 5), SourceChangedError);
  assert.equal(memory.toString(), "a789ef");
});

test("a file that was cut after it was opened is an error, and a write changes its identity", async () => {
  const path = join(folder, "b.mcap");
  await writeFile(path, "0123456789");
  await using file = await FileSource.open(path);
  assert.deepEqual(await file.restat(), file.stat);
  await truncate(path, 4);
  await assert.rejects(file.read(0, 10), SourceChangedError);
  await appendFile(path, "abcdef");
  const now = await file.restat();
  assert.deepEqual([now.inode, now.sizeBytes], [file.stat.inode, 10]);
  assert.notEqual(now.ctimeNs, file.stat.ctimeNs);
});

test("a file that is replaced while open stays the file that was opened", async () => {
  const path = join(folder, "c.mcap");
  await writeFile(path, "before");
  await using file = await FileSource.open(path);
  await writeFile(`${path}.new`, "behind");
  await rename(`${path}.new`, path);
  assert.equal(Buffer.from(await file.read(0, 6)).toString(), "before");
});

test("symbolic links, folders and pipes are refused without waiting", async () => {
  await symlink("/etc/passwd", join(folder, "link.mcap"));
  await assert.rejects(FileSource.open(join(folder, "link.mcap")), { code: "ELOOP" });
  await assert.rejects(FileSource.open(folder), /not a regular file/);
  execFileSync("/usr/bin/mkfifo", [join(folder, "pipe.mcap")]);
  await assert.rejects(FileSource.open(join(folder, "pipe.mcap")), /not a regular file/);
});
