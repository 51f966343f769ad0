import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import type { BlobReader } from "../../store/blobs/blob-store.ts";
import { archiveBytes, openArchive } from "./set-archive.ts";

const run = promisify(execFile);

const contents = new Map<string, Buffer>([
  ["data/chunk-000/file-000.parquet", Buffer.alloc(1300, "d")],
  ["downlink.json", Buffer.from("{}")],
  ["meta/full.json", Buffer.alloc(1024, "m")],
  ["meta/none.json", Buffer.alloc(0)],
  [`topics/${"n".repeat(100)}-0123abcd/0-000.parquet`, Buffer.alloc(512, "t")],
]);
const files = [...contents].map(([path, data]) => ({ path, blobKey: path, sizeBytes: BigInt(data.length) }));
const blobs = {
  open: async (key: string): Promise<BlobReader> => {
    const data = contents.get(key)!;
    return {
      sizeBytes: data.length,
      read: async (offset, length) => data.subarray(offset, offset + length),
      async *stream({ start, endInclusive } = { start: 0, endInclusive: data.length - 1 }) {
        yield data.subarray(start, endInclusive + 1);
      },
      [Symbol.asyncDispose]: async () => undefined,
    };
  },
};
const archive = openArchive(blobs, files);
const whole = Buffer.concat(await Array.fromAsync(archive.stream()));

test("tar unpacks an archive, with the size that was said, into the files that it has", async (t) => {
  assert.deepEqual([whole.length, archiveBytes(files)], [archive.sizeBytes, archive.sizeBytes]);
  const folder = await mkdtemp(join(tmpdir(), "downlink-archive-"));
  t.after(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, "a.tar"), whole);
  const { stdout } = await run("tar", ["-xvf", "a.tar"], { cwd: folder });
  assert.deepEqual(stdout.trim().split("\n"), [...contents.keys()]);
  for (const [path, data] of contents) assert.ok(data.equals(await readFile(join(folder, path))), path);
});

test("each range of an archive has the bytes of the whole there", async () => {
  const edges = Array.from({ length: 40 }, (_, block) => [
    block * 512 - 1,
    block * 512,
    block * 512 + 1,
    block * 512 + 300,
  ]);
  const places = edges.flat().filter((place) => place >= 0 && place < whole.length);
  for (const start of places)
    for (const endInclusive of places.filter((end) => end >= start && (end < start + 3000 || end > 6000))) {
      const part = Buffer.concat(await Array.fromAsync(archive.stream({ start, endInclusive })));
      assert.ok(part.equals(whole.subarray(start, endInclusive + 1)), `${start} to ${endInclusive}`);
    }
});

test("a file of more than 8 GiB has its size in binary, and what follows it has its place", async () => {
  const large = { path: "data/large", blobKey: "data/large", sizeBytes: 9n * 1024n ** 3n };
  const { stream, sizeBytes } = openArchive(blobs, [large, files[1]!]);
  const [header] = await Array.fromAsync(stream({ start: 0, endInclusive: 511 }));
  assert.deepEqual([header![124], Buffer.from(header!).readBigUInt64BE(128)], [0x80, large.sizeBytes]);
  const at = 512 + Number(large.sizeBytes);
  assert.equal(sizeBytes, at + 1024 + 1024);
  const next = Buffer.concat(await Array.fromAsync(stream({ start: at, endInclusive: at + 513 })));
  assert.deepEqual([next.toString("latin1", 0, 13), next.toString("latin1", 512)], ["downlink.json", "{}"]);
});
