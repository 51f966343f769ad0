import assert from "node:assert/strict";
import { test } from "node:test";
import { DamagedBackupError } from "./backup-errors.ts";
import { readTar } from "./tar.ts";

interface Given {
  readonly name: string;
  readonly bytes?: Buffer;
  /** "0" means a file, "5" a directory. */
  readonly type?: string;
}

/** Makes one entry as Postgres writes it. */
function entry({ name, bytes = Buffer.alloc(0), type = "0" }: Given): Buffer {
  const header = Buffer.alloc(512);
  header.write(name, 0);
  header.write(`${bytes.length.toString(8).padStart(11, "0")} `, 124);
  header.write(type, 156);
  header.fill(" ", 148, 156);
  header.write(
    `${header
      .reduce((sum, byte) => sum + byte, 0)
      .toString(8)
      .padStart(6, "0")}\0`,
    148,
  );
  return Buffer.concat([header, bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)]);
}

/** Yields the archive in pieces that do not end where its blocks end. */
async function* inPieces(archive: Buffer, size = 700) {
  for (let at = 0; at < archive.length; at += size) yield archive.subarray(at, at + size);
}

async function readAll(archive: Buffer): Promise<[string, string, string][]> {
  const read: [string, string, string][] = [];
  for await (const { name, kind, body } of readTar(inPieces(archive)))
    read.push([name, kind, Buffer.concat(await Array.fromAsync(body)).toString()]);
  return read;
}

const end = Buffer.alloc(1024);

test("files and directories are read in their order, however the archive is cut into pieces", async () => {
  const long = "x".repeat(1500);
  const entries = [
    entry({ name: "base", type: "5" }),
    entry({ name: "base/1", bytes: Buffer.from(long) }),
    entry({ name: "empty" }),
    entry({ name: "even", bytes: Buffer.from("y".repeat(512)) }),
  ];
  assert.deepEqual(await readAll(Buffer.concat([...entries, end])), [
    ["base", "directory", ""],
    ["base/1", "file", long],
    ["empty", "file", ""],
    ["even", "file", "y".repeat(512)],
  ]);
});

test("a body that nobody reads is skipped", async () => {
  const archive = Buffer.concat([entry({ name: "a", bytes: Buffer.alloc(5000) }), entry({ name: "b" }), end]);
  assert.deepEqual(await Array.fromAsync(readTar(inPieces(archive)), ({ name }) => name), ["a", "b"]);
});

test("an archive is refused if a path leads out of it, an entry is no plain file, or it is damaged or cut off", async () => {
  const whole = Buffer.concat([entry({ name: "a", bytes: Buffer.alloc(5000) }), end]);
  const damaged = Buffer.from(whole);
  damaged[3]! ^= 1;
  for (const [archive, words] of [
    [entry({ name: "../etc/passwd" }), /leads out/],
    [entry({ name: "/etc/passwd" }), /leads out/],
    [entry({ name: "link", type: "2" }), /neither a file nor a directory/],
    [damaged, /is damaged/],
    [whole.subarray(0, 3000), /ends too early/],
    [whole.subarray(0, 100), /ends too early/],
  ] as const)
    await assert.rejects(readAll(archive), (error) => error instanceof DamagedBackupError && words.test(error.message));
});
