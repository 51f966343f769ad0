import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { link, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { PartConflictError } from "./blob-errors.ts";
import { filesOf } from "./file-layout.ts";
import { type FileStore, openFileStore } from "./file-store.ts";
import { childBytes, childPartBytes, childPlan } from "./testing/file-store-child.ts";
import { testClock, testSigner } from "./testing/open-file-store.ts";
import { cutPart, cutParts, inPieces, newKey, readBlob } from "./testing/pieces.ts";

const child = fileURLToPath(new URL("./testing/file-store-child.ts", import.meta.url));
const parts = cutParts(childBytes, childPartBytes);

const directory = await mkdtemp(join(tmpdir(), "file-store-crash-"));
after(() => rm(directory, { recursive: true }));

test("after kill -9 in the middle of a put, nothing is stored, and a put of the same key succeeds", async () => {
  const key = newKey();
  await killWhenSilent(directory, key, "hangInPut");
  const store = await openStore(directory);
  assert.equal(await store.stat(key), undefined);
  await store.put(key, inPieces(childBytes));
  assert(childBytes.equals(await readBlob(await store.open(key))));
});

test("the remains of a killed put are listed for the sweep, and deleting its key removes them", async () => {
  const key = newKey("org_swept");
  await killWhenSilent(directory, key, "hangInPut");
  const store = await openStore(directory);
  assert.deepEqual(
    (await Array.fromAsync(store.list("org_swept/"))).map((listed) => [listed.key, listed.isWhole]),
    [[key, false]],
  );
  await store.delete(key);
  assert.deepEqual(await Array.fromAsync(store.list("org_swept/")), []);
});

test("after kill -9 in the middle of a part, the acknowledged parts are there and that one is not", async () => {
  const key = newKey();
  await killWhenSilent(directory, key, "hangInPart");
  const store = await openStore(directory);
  assert.deepEqual(
    (await store.listParts(key)).map(({ number }) => number),
    [1],
  );
  await sendMissing(store, key);
  assert(childBytes.equals(await readBlob(await store.open(key))));
});

test("after kill -9 between a part's record and its acknowledgement, sending it again is harmless", async () => {
  const key = newKey();
  const { signal } = await runUntil({ directory, key, act: "dieBeforeAcknowledging" }, () => false);
  assert.equal(signal, "SIGKILL");
  const store = await openStore(directory);
  assert.deepEqual(
    (await store.listParts(key)).map(({ number }) => number),
    [1],
  );
  await store.receivePart(key, parts[0]!.plan, inPieces(parts[0]!.bytes));
  const other = cutPart(1, randomBytes(childPartBytes));
  await assert.rejects(store.receivePart(key, other.plan, inPieces(other.bytes)), PartConflictError);
  await sendMissing(store, key);
  assert(childBytes.equals(await readBlob(await store.open(key))));
});

test("after kill -9, again and again at any instant, no acknowledged part is lost and the object is exact", async () => {
  const key = newKey();
  const acknowledged = new Set<number>();
  for (let run = 0, allowed = 1; ; run++, allowed = 1 + (allowed % 3)) {
    assert(run < 30, "no progress");
    let seen = 0;
    const { lines } = await runUntil(
      { directory, key, act: "uploadAll" },
      (line) => line.startsWith("part") && ++seen === allowed,
    );
    for (const line of lines) if (line.startsWith("part")) acknowledged.add(Number(line.slice(5)));
    const store = await openStore(directory);
    if (lines.includes("complete") || (await store.stat(key))) break;
    const listed = (await store.listParts(key)).map(({ number }) => number);
    assert.deepEqual(
      [...acknowledged].filter((number) => !listed.includes(number)),
      [],
    );
  }
  const store = await openStore(directory);
  await store.completeUpload(
    key,
    parts.map(({ plan }) => plan),
  );
  assert(childBytes.equals(await readBlob(await store.open(key))));
});

const store = await openStore(directory);

test("a journal torn at any byte loses at most its last records, and what is appended after it counts", async () => {
  const key = newKey();
  const files = filesOf(directory, key);
  await store.createUpload(key, childPlan);
  const planBytes = (await readFile(files.journal)).byteLength;
  for (const { plan, bytes } of parts.slice(0, 3)) await store.receivePart(key, plan, inPieces(bytes));
  const journal = await readFile(files.journal);
  const tears = fc.tuple(fc.integer({ min: planBytes, max: journal.byteLength }), fc.uint8Array({ maxLength: 30 }));
  await fc.assert(
    fc.asyncProperty(tears, async ([keptBytes, garbage]) => {
      await writeFile(files.journal, Buffer.concat([journal.subarray(0, keptBytes), garbage]));
      const survivors = (await store.listParts(key)).map(({ number }) => number);
      assert.deepEqual(survivors, [1, 2, 3].slice(0, survivors.length));
      if (keptBytes === journal.byteLength) assert.equal(survivors.length, 3);
      await store.receivePart(key, parts[4]!.plan, inPieces(parts[4]!.bytes));
      assert.deepEqual(
        (await store.listParts(key)).map(({ number }) => number),
        [...survivors, 5],
      );
    }),
    { numRuns: 60 },
  );
});

test("a journal with a damaged line is read as if that line were not there", async () => {
  const key = newKey();
  const { journal } = filesOf(directory, key);
  await store.createUpload(key, childPlan);
  for (const { plan, bytes } of parts.slice(0, 2)) await store.receivePart(key, plan, inPieces(bytes));
  await writeFile(journal, (await readFile(journal, "latin1")).replace(/(take 2 \S+ \d+)\d/, "$19"));
  const listed = await store.listParts(key);
  assert.deepEqual(
    listed.map(({ number }) => number),
    [1],
  );
});

test("an acknowledged part is never written again, even by the same bytes", async () => {
  const key = newKey();
  await store.createUpload(key, childPlan);
  await store.receivePart(key, parts[0]!.plan, inPieces(parts[0]!.bytes));
  await writeFile(filesOf(directory, key).partial, "as it stands");
  await store.receivePart(key, parts[0]!.plan, inPieces(parts[0]!.bytes));
  assert.equal(await readFile(filesOf(directory, key).partial, "utf8"), "as it stands");
});

test("bytes of a part that were written and not recorded do not count, and are sent again", async () => {
  const key = newKey();
  await store.createUpload(key, childPlan);
  await writeFile(filesOf(directory, key).partial, randomBytes(childBytes.byteLength));
  assert.deepEqual(await store.listParts(key), []);
  await sendMissing(store, key);
  assert(childBytes.equals(await readBlob(await store.open(key))));
});

for (const leftover of ["the journal and the parts", "the journal", "the parts"])
  test(`after a crash in a completion that left ${leftover} behind, the upload is complete and the repeat tidies up`, async () => {
    const key = newKey();
    const files = filesOf(directory, key);
    await store.createUpload(key, childPlan);
    for (const { plan, bytes } of parts) await store.receivePart(key, plan, inPieces(bytes));
    await link(files.partial, files.object);
    if (!leftover.includes("parts")) await rm(files.partial);
    if (!leftover.includes("journal")) await rm(files.journal);
    assert.equal((await store.stat(key))?.sizeBytes, childBytes.byteLength);
    await store.completeUpload(
      key,
      parts.map(({ plan }) => plan),
    );
    assert.deepEqual(
      (await readdir(files.directory)).filter((name) => name.startsWith(`${files.name}.`)),
      [],
    );
    assert(childBytes.equals(await readBlob(await store.open(key))));
  });

test("createUpload goes on from where a crash left it", async () => {
  const key = newKey();
  await writeFile(filesOf(directory, key).partial, "");
  await store.createUpload(key, childPlan);
  await sendMissing(store, key);
  assert(childBytes.equals(await readBlob(await store.open(key))));
});

test("two processes on one directory never mix two parts of one number: the first stays, the other is refused", async () => {
  const stores = [await openStore(directory), await openStore(directory)];
  for (let round = 0; round < 15; round++) {
    const key = newKey();
    const rivals = [cutPart(1, randomBytes(70_000)), cutPart(1, randomBytes(70_000))];
    await stores[0]!.createUpload(key, { sizeBytes: 70_000, partSizeBytes: 70_000 });
    const results = await Promise.allSettled(
      rivals.map(({ plan, bytes }, index) => stores[index]!.receivePart(key, plan, inPieces(bytes))),
    );
    const winner = results.findIndex(({ status }) => status === "fulfilled");
    const refusal = results[1 - winner];
    assert(refusal?.status === "rejected" && refusal.reason instanceof PartConflictError);
    await stores[1]!.completeUpload(key, [rivals[winner]!.plan]);
    assert(rivals[winner]!.bytes.equals(await readBlob(await stores[0]!.open(key))));
  }
});

async function sendMissing(store: FileStore, key: string): Promise<void> {
  const kept = new Set((await store.listParts(key)).map(({ number }) => number));
  const missing = parts.filter(({ plan }) => !kept.has(plan.number));
  for (const { plan, bytes } of missing) await store.receivePart(key, plan, inPieces(bytes));
  await store.completeUpload(key, await store.listParts(key));
}

function openStore(directory: string): Promise<FileStore> {
  return openFileStore({ directory, signer: testSigner, clock: testClock, publicUrl: () => "" });
}

async function killWhenSilent(directory: string, key: string, act: string): Promise<void> {
  const { signal } = await runUntil({ directory, key, act }, (line) => line === "silent");
  assert.equal(signal, "SIGKILL");
}

/** Runs the child until it prints the expected line, and kills it then. Returns what it printed, and the signal that ended it. */
async function runUntil(run: { directory: string; key: string; act: string }, isTheOne: (line: string) => boolean) {
  const running = spawn(process.execPath, [child, run.directory, run.key, run.act], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(running, "exit");
  const lines: string[] = [];
  for await (const line of createInterface({ input: running.stdout })) {
    lines.push(line);
    if (isTheOne(line)) running.kill("SIGKILL");
  }
  const [, signal] = (await exited) as [number | null, NodeJS.Signals | null];
  return { lines, signal };
}
