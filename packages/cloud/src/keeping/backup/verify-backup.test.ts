import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { newId } from "../../db/ids.ts";
import { openFileFolder } from "../../store/blobs/file-folder.ts";
import { inPieces } from "../../store/blobs/testing/pieces.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { heldObjects } from "./testing/held-objects.ts";
import { verifyAndPrint } from "./verify-command.ts";

const { deps, dataDir } = await startCloud({ after }, { works: false });
const place = await mkdtemp(join(tmpdir(), "downlink-verified-"));
after(() => rm(place, { recursive: true }));
for (const text of ["one", "two", "three"])
  await deps.blobs.put(`org_verified/${newId("upl")}`, inPieces(Buffer.from(text)));
const [key, altered] = await heldObjects(deps, { objectsDir: join(dataDir, "objects"), place });
const names = (await readdir(place, { recursive: true })).sort();

const find = (pattern: RegExp) => names.find((name) => pattern.test(name))!;
const flipByte = (bytes: Buffer) => Buffer.from(bytes.map((byte, at) => (at === 1 ? byte ^ 1 : byte)));

interface Verified {
  readonly lines: readonly string[];
  readonly exitCode: unknown;
}

async function verify(backup?: string): Promise<Verified> {
  const lines: string[] = [];
  try {
    await verifyAndPrint({ open: () => openFileFolder(place), backup, write: (line) => lines.push(line) });
    return { lines, exitCode: process.exitCode };
  } catch (error) {
    return { lines: [(error as Error).message], exitCode: process.exitCode };
  } finally {
    process.exitCode = undefined;
  }
}

/** Verifies while a file has other bytes, or is away. */
async function verifyWith(name: string, change: (bytes: Buffer) => Buffer | undefined): Promise<Verified> {
  const path = join(place, name);
  const bytes = await readFile(path);
  const changed = change(bytes);
  await (changed ? writeFile(path, changed) : rm(path));
  try {
    return await verify();
  } finally {
    await writeFile(path, bytes);
  }
}

test("a backup that is as it was written has the exit code 0", async () => {
  const { lines, exitCode } = await verify();
  assert.equal(exitCode, 0, lines.join("\n"));
  assert.match(lines.join("\n"), /^the backup \w+ in \S+: [1-9] files and 3 objects of 11 bytes are what was written$/);
});

test("each object or file that was altered, cut or lost is named, and the exit code is 1", async () => {
  const [object, list, record] = [`objects/${key}`, find(/objects-000001$/), find(/backup.json$/)];
  for (const [name, change, words] of [
    [object, flipByte, "is not what was written"],
    [object, (bytes) => bytes.subarray(1), "is not what was written"],
    [object, () => undefined, "is not there"],
    [list, flipByte, "is not what was written"],
    [list, () => undefined, "is not there"],
    [record, (bytes) => bytes.subarray(2), "is not what was written, or of a later version"],
  ] as const satisfies [string, (bytes: Buffer) => Buffer | undefined, string][]) {
    const { lines, exitCode } = await verifyWith(name, change);
    assert.deepEqual([lines[0], exitCode], [`DAMAGED: ${name} ${words}`, 1]);
  }
});

test("everything that is damaged is named in one run", async () => {
  const path = join(place, "objects", altered!);
  const bytes = await readFile(path);
  await writeFile(path, flipByte(bytes));
  const { lines } = await verifyWith(`objects/${key}`, () => undefined);
  await writeFile(path, bytes);
  assert.deepEqual(
    lines.slice(0, -1).sort(),
    [`DAMAGED: objects/${altered} is not what was written`, `DAMAGED: objects/${key} is not there`].sort(),
  );
  assert.match(lines.at(-1)!, /: 2 parts are damaged$/);
});

test("where there is no such backup, or the place cannot be read, the exit code is 2", async () => {
  const unknown = await verify("20200101t000000z");
  assert.match(unknown.lines[0]!, /has no complete backup 20200101t000000z: it has \w+$/);
  assert.equal(unknown.exitCode, 2);
  const broken = await verifyWith(find(/backup.json$/), () => undefined);
  assert.match(broken.lines[0]!, /has no complete backup: none is complete, 1 broke off$/);
  assert.equal(broken.exitCode, 2);
  const path = join(tmpdir(), "downlink-verified-none", "\0");
  await assert.rejects(verifyAndPrint({ open: () => openFileFolder(path), backup: undefined, write: () => {} }), {
    message: /^the place of the backup cannot be read: /,
  });
  assert.equal(process.exitCode, 2);
  process.exitCode = undefined;
});
