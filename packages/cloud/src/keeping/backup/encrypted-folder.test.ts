import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { openFileFolder } from "../../store/blobs/file-folder.ts";
import { inPieces } from "../../store/blobs/testing/pieces.ts";
import { encryptFolder } from "./encrypted-folder.ts";
import { encrypt, toKey } from "./encrypted-stream.ts";
import { openPlace } from "./open-place.ts";

const CHUNK = 64 * 1024;
const TAG = 16;
const HEADER = 49;
const NAME = "objects/org_sealed/upl_one";
const OTHER = "objects/org_sealed/upl_two";
const key = toKey(randomBytes(32))!;
const DAMAGED =
  /this backup is damaged: objects\/org_sealed\/upl_\w+ (is not what was written|is not encrypted, or was cut)/;

async function open(t: TestContext) {
  const root = await mkdtemp(join(tmpdir(), "downlink-sealed-"));
  t.after(() => rm(root, { recursive: true }));
  const plain = await openFileFolder(root);
  const folder = await encryptFolder(plain, key);
  const read = async (name = NAME) => Buffer.concat(await Array.fromAsync((await folder.read(name))!));
  return { root, plain, folder, read };
}

test("files of every length are read as they were written, and their sizes and hashes are those before", async (t) => {
  const { folder, read } = await open(t);
  for (const length of [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK, 3 * CHUNK + 5]) {
    const bytes = randomBytes(length);
    const written = await folder.put(NAME, inPieces(bytes));
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    assert.deepEqual(written, { sizeBytes: length, sha256 });
    assert.ok((await read()).equals(bytes), `${length} bytes`);
    assert.deepEqual(await Array.fromAsync(folder.list("objects/")), [{ name: NAME, sizeBytes: length }]);
  }
  await folder.putText("20260101t000000z/backup.json", "text");
  assert.equal(await folder.readText("20260101t000000z/backup.json"), "text");
  assert.equal(await folder.readText("20260101t000000z/none"), undefined);
  assert.equal(await folder.read("20260101t000000z/none"), undefined);
});

test("nothing of what was written is in the files, and the same bytes are other bytes each time", async (t) => {
  const { root, folder } = await open(t);
  const text = "dl_sk_this_is_a_secret";
  for (const name of [NAME, OTHER]) await folder.put(name, inPieces(Buffer.from(text)));
  const [one, two] = await Promise.all([NAME, OTHER].map((name) => readFile(join(root, name))));
  assert.ok(!one!.includes(text) && !one!.includes("dl_sk"));
  assert.equal(one!.byteLength, HEADER + text.length + TAG);
  assert.notDeepEqual(one!.subarray(HEADER), two!.subarray(HEADER));
});

test("a file is refused once a byte of it was altered, wherever that is", async (t) => {
  const { root, folder, read } = await open(t);
  await folder.put(NAME, inPieces(randomBytes(2 * CHUNK + 5)));
  const whole = await readFile(join(root, NAME));
  const [version, keyId] = [8, 9];
  for (const at of [0, version, keyId + 8, HEADER - 1, HEADER, HEADER + CHUNK, whole.length - TAG, whole.length - 1]) {
    const altered = Buffer.from(whole);
    altered[at]! ^= 1;
    await writeFile(join(root, NAME), altered);
    await assert.rejects(read(), DAMAGED, `byte ${at}`);
  }
  const altered = Buffer.from(whole);
  altered[keyId]! ^= 1;
  await writeFile(join(root, NAME), altered);
  await assert.rejects(read(), /this backup is damaged: \S+upl_one is encrypted with another key/);
});

test("a file is refused once it was cut or lengthened, also where chunks end", async (t) => {
  const { root, folder, read } = await open(t);
  await folder.put(NAME, inPieces(randomBytes(3 * CHUNK)));
  const whole = await readFile(join(root, NAME));
  for (const length of [0, 5, HEADER, HEADER + 5, HEADER + CHUNK + TAG, HEADER + 2 * (CHUNK + TAG), whole.length - 1]) {
    await writeFile(join(root, NAME), whole.subarray(0, length));
    await assert.rejects(read(), DAMAGED, `${length} bytes`);
  }
  for (const more of [Buffer.alloc(1), whole.subarray(HEADER, HEADER + CHUNK + TAG), whole]) {
    await writeFile(join(root, NAME), Buffer.concat([whole, more]));
    await assert.rejects(read(), DAMAGED, `${more.byteLength} bytes more`);
  }
});

test("a file is refused once its chunks were exchanged, left out or repeated, or taken from another file", async (t) => {
  const { root, folder, read } = await open(t);
  const files = await Promise.all(
    [NAME, OTHER].map(async (name) => {
      await folder.put(name, inPieces(randomBytes(3 * CHUNK)));
      return await readFile(join(root, name));
    }),
  );
  const chunk = (number: number, file = 0) =>
    files[file]!.subarray(HEADER + number * (CHUNK + TAG), HEADER + (number + 1) * (CHUNK + TAG));
  const header = files[0]!.subarray(0, HEADER);
  for (const [what, chunks] of [
    ["exchanged", [chunk(1), chunk(0), chunk(2)]],
    ["left out", [chunk(0), chunk(2)]],
    ["repeated", [chunk(0), chunk(0), chunk(1), chunk(2)]],
    ["of another file", [chunk(0), chunk(1, 1), chunk(2)]],
  ] as const) {
    await writeFile(join(root, NAME), Buffer.concat([header, ...chunks]));
    await assert.rejects(read(), DAMAGED, what);
  }
  await writeFile(join(root, NAME), Buffer.concat([header, chunk(0), chunk(1), chunk(2)]));
  assert.equal((await read()).byteLength, 3 * CHUNK, "as they were");
});

test("a file that was given the name of another one is refused", async (t) => {
  const { root, folder, read } = await open(t);
  for (const name of [NAME, OTHER]) await folder.put(name, inPieces(randomBytes(10)));
  await rename(join(root, OTHER), join(root, NAME));
  await assert.rejects(read(NAME), DAMAGED);
});

test("a place that is encrypted is not opened without its key or with another one, and says so", async (t) => {
  const { root, folder } = await open(t);
  await folder.put(NAME, inPieces(randomBytes(10)));
  const plain = () => openFileFolder(root);
  await assert.rejects(encryptFolder(await plain(), undefined), {
    message: `${root} is encrypted: DOWNLINK_BACKUP_KEY_FILE has to name the file with its key`,
  });
  await assert.rejects(encryptFolder(await plain(), toKey(randomBytes(32))!), {
    message: `${root} is encrypted with another key than that in the file of DOWNLINK_BACKUP_KEY_FILE`,
  });
  await writeFile(join(root, "README"), "what is no backup does not count");
  await writeFile(join(root, "objects/org_sealed/a"), "one damaged file does not count");
  await encryptFolder(await plain(), key);
});

test("a place with backups that are not encrypted takes no encrypted ones", async (t) => {
  const { root, plain } = await open(t);
  await plain.put(NAME, inPieces(Buffer.from("as it is")));
  await assert.rejects(encryptFolder(plain, key), /has backups that are not encrypted: go on there without/);
  assert.equal(await encryptFolder(plain, undefined), plain);
  assert.deepEqual(await readdir(join(root, "objects/org_sealed")), ["upl_one"]);
});

test("a file is encrypted with no more than two chunks of it in memory", async () => {
  let [made, yielded] = [0, 0];
  async function* source() {
    for (; made < 50 * CHUNK; made += 1000) yield Buffer.alloc(1000);
  }
  for await (const piece of encrypt(source(), { key, name: NAME })) {
    yielded += piece.byteLength;
    assert.ok(made - yielded <= 2 * CHUNK, `${made - yielded} bytes wait`);
  }
  assert.equal(yielded, made + HEADER + TAG * Math.ceil(made / CHUNK));
});

test("a file of a key that is not there, or holds something else, is refused with what it should hold", async (t) => {
  const { root } = await open(t);
  const [keyFile, place] = [join(root, "key"), join(root, "place")];
  await assert.rejects(
    openPlace(place, undefined, { keyFile }),
    /DOWNLINK_BACKUP_KEY_FILE: \S+ cannot be read \(ENOENT\)/,
  );
  for (const text of ["", "secret", randomBytes(31).toString("base64"), randomBytes(32).toString("hex")]) {
    await writeFile(keyFile, text);
    await assert.rejects(
      openPlace(place, undefined, { keyFile }),
      /has to hold 32 bytes in base64, as openssl rand -base64 32/,
    );
  }
  await writeFile(keyFile, `${randomBytes(32).toString("base64")}\n`);
  using folder = await openPlace(place, undefined, { keyFile });
  assert.equal(folder.putCopy, undefined, "a copy would not be encrypted");
});
