import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { bytesSource, FileSource, inspectRecording, largeMemory, type RandomAccessSource } from "@downlink/recordings";
import {
  exportBytes,
  exportSource,
  makeBag,
  makeMcap,
  readMessages,
  slowTest,
  writeLargeFile,
} from "@downlink/recordings/testing";
import { LARGE_FILE_BYTES } from "../jobs/large-file.ts";
import { openFileIndexer } from "./file-indexer.ts";
import { SalvageRefusedError, ThreadFailedError, ThreadOutOfMemoryError, TooHeavyError } from "./indexing-errors.ts";
import type { IndexingLimits } from "./indexing-limits.ts";
import { judgeFile } from "./judge-file.ts";

const never = new AbortController().signal;
const nothing = bytesSource(new Uint8Array(1));
const main = new URL("./testing/misbehaving-child.ts", import.meta.url);

/** Opens an indexer whose threads do what the file's name says. */
function openMisbehaving(limits: Partial<IndexingLimits> = {}) {
  const indexer = openFileIndexer({ main, limits: { threads: 1, heapCeilingMegabytes: 64, ...limits } });
  const act = async (fileName: string, signal = never, source = nothing) =>
    (await indexer.index(source, { fileName, signal, store: drop })).contentSha256;
  return { act, [Symbol.asyncDispose]: () => indexer[Symbol.asyncDispose]() };
}

/** Stores nothing. */
async function drop(pieces: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of pieces);
}

test("a thread computes the SHA-256 of a file of any length, and of one that it refuses", async () => {
  await using indexer = openFileIndexer();
  for (const sizeBytes of [0, 1, 1024 * 1024, 1024 * 1024 + 1, 3_500_000]) {
    const bytes = randomBytes(sizeBytes);
    const expected = createHash("sha256").update(bytes).digest("hex");
    const file = { fileName: "a.mcap", signal: never, store: drop };
    const { contentSha256, verdict } = await indexer.index(bytesSource(bytes), file);
    assert.equal(contentSha256, expected, `${sizeBytes} bytes`);
    assert.ok("refusal" in verdict);
  }
});

test("a thread finds in a file the same as reading it here does, with the SHA-256 of each attachment", async () => {
  await using indexer = openFileIndexer();
  const attachments = [
    { name: "long", data: randomBytes(2_500_000) },
    { name: "none", data: new Uint8Array(0) },
  ];
  const metadata = [{ name: "__proto__", metadata: { ["__proto__"]: "own", constructor: "too" } }];
  const files = {
    "a.mcap": await makeMcap({ attachments, metadata }),
    "b.bag": await makeBag(),
    "c.mcap": Buffer.of(7),
  };
  for (const [fileName, bytes] of Object.entries(files)) {
    const inspection = await inspectRecording(bytesSource(bytes), { fileName, verifyChunks: true });
    const { verdict } = await indexer.index(bytesSource(bytes), { fileName, signal: never, store: drop });
    assert.deepEqual(verdict, judgeFile(inspection), fileName);
    if (fileName !== "a.mcap") continue;
    assert("summary" in verdict);
    assert.deepEqual(
      verdict.summary.attachments.map(({ dataSha256 }) => dataSha256),
      attachments.map(({ data }) => createHash("sha256").update(data).digest("hex")),
    );
  }
});

slowTest("a file that needs more memory than it may have is too heavy, and the next one is read", async () => {
  await using indexer = openFileIndexer({ limits: { threads: 1, heapMegabytes: 40 } });
  const entries = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`key ${index}`, "value"]));
  const metadata = Array.from({ length: 8 }, (_, index) => ({ name: `record ${index}`, metadata: entries }));
  const [heavy, light] = [await makeMcap({ metadata }), await makeMcap()];
  const inspect = async (bytes: Uint8Array) =>
    (await indexer.index(bytesSource(bytes), { fileName: "a.mcap", signal: never, store: drop })).verdict;
  await assert.rejects(inspect(heavy), (error: Error) => {
    return error instanceof TooHeavyError && /more memory than the 40 MB/.test(error.message);
  });
  assert("summary" in (await inspect(light)));
});

slowTest(
  "the index of a file that can be imported is stored whole, that of another file not at all, and a failure of the store is thrown",
  async () => {
    await using indexer = openFileIndexer();
    const bytes = await makeMcap();
    const kept: Uint8Array[] = [];
    let isEnded = false;
    const store = async (pieces: AsyncIterable<Uint8Array>) => {
      for await (const piece of pieces) kept.push(piece);
      isEnded = true;
    };
    const file = { fileName: "a.mcap", signal: never, store };
    await indexer.index(bytesSource(bytes), file);
    assert.equal(isEnded, true);
    const openIndex = async () => ({ ...bytesSource(Buffer.concat(kept)), [Symbol.asyncDispose]: async () => {} });
    const exported = await exportBytes([exportSource(bytes, { openIndex })]);
    assert.equal(readMessages(exported).length, readMessages(bytes).length);

    const damaged = new Uint8Array(bytes).fill(7, 500, 600);
    let wasBroken = false;
    const watch = async (pieces: AsyncIterable<Uint8Array>) => {
      try {
        for await (const _ of pieces);
      } catch (error) {
        wasBroken = true;
        throw error;
      }
    };
    const { verdict } = await indexer.index(bytesSource(damaged), { ...file, store: watch });
    assert.ok("refusal" in verdict && wasBroken);

    const full = () => Promise.reject(new Error("no room"));
    await assert.rejects(indexer.index(bytesSource(bytes), { ...file, store: full }), /no room/);
  },
);

test("a thread that fills its heap in one step ends alone", async () => {
  await using indexer = openMisbehaving();
  await assert.rejects(indexer.act("hoard"), ThreadOutOfMemoryError);
  assert.ok(await indexer.act("succeed"));
});

slowTest("the next file is not blamed for what a thread keeps of earlier files", async () => {
  await using indexer = openMisbehaving();
  for (let count = 0; count < 6; count++) assert.ok(await indexer.act("keep"));
});

test("a file that takes more computing than it may is too heavy, and the next one is read", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  await using indexer = openMisbehaving();
  const spinning = indexer.act("spin");
  await setImmediate();
  t.mock.timers.tick(3_600_000);
  await assert.rejects(spinning, TooHeavyError);
  assert.ok(await indexer.act("succeed"));
});

test("a store that does not answer is not the file's fault", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  await using indexer = openMisbehaving();
  const read = () => {
    void setImmediate().then(() => t.mock.timers.tick(3_600_000));
    return new Promise<Uint8Array>(() => {});
  };
  await assert.rejects(indexer.act("askForever", never, { sizeBytes: 1, read }), (error: Error) => {
    return !(error instanceof TooHeavyError) && /the store left a read unanswered/.test(error.message);
  });
  assert.ok(await indexer.act("succeed"));
});

test("an error of the source is thrown, and the next file is read", async () => {
  await using indexer = openMisbehaving();
  const failure = new Error("EIO");
  const broken: RandomAccessSource = { sizeBytes: 1, read: () => Promise.reject(failure) };
  await assert.rejects(indexer.act("askForever", never, broken), failure);
  assert.ok(await indexer.act("succeed"));
});

test("a thread that ends, throws or fails only fails its own file", async () => {
  await using indexer = openMisbehaving();
  for (const fileName of ["exit", "throwLater", "fail"]) {
    await assert.rejects(indexer.act(fileName), ThreadFailedError, fileName);
    assert.ok(await indexer.act("succeed"), fileName);
  }
});

test("an abort ends the thread in the middle of a computation, and ends a file that waits for its turn", async () => {
  await using indexer = openMisbehaving();
  const [running, waiting] = [new AbortController(), new AbortController()];
  const spinning = indexer.act("spin", running.signal);
  const queued = indexer.act("succeed", waiting.signal);
  const last = indexer.act("succeed");
  waiting.abort(new Error("not any more"));
  await assert.rejects(queued, /not any more/);
  running.abort(new Error("told to stop"));
  await assert.rejects(spinning, /told to stop/);
  assert.ok(await last);
  await assert.rejects(indexer.act("succeed", AbortSignal.abort(new Error("before"))), /before/);
});

test("a thread is used again, unless it keeps too much memory", async () => {
  await using indexer = openMisbehaving();
  const first = await indexer.act("succeed");
  assert.equal(await indexer.act("succeed"), first);
  assert.equal(await indexer.act("bloat"), first);
  assert.notEqual(await indexer.act("succeed"), first);
});

test("as many files are read at once as there are threads, the others in their order", async () => {
  await using indexer = openMisbehaving({ threads: 2 });
  const [held, ended] = [Promise.withResolvers<Uint8Array>(), [] as string[]];
  const blocking: RandomAccessSource = { sizeBytes: 1, read: () => held.promise };
  const stop = new AbortController();
  const blocked = indexer.act("askForever", stop.signal, blocking);
  const others = ["first", "second", "third"].map(async (name) => {
    await indexer.act("succeed");
    ended.push(name);
  });
  await Promise.all(others);
  assert.deepEqual(ended, ["first", "second", "third"]);
  stop.abort(new Error("enough"));
  await assert.rejects(blocked, /enough/);
});

test("large files wait for each other, and leave a thread to small ones", async () => {
  await using indexer = openMisbehaving({ threads: 2 });
  const held = Promise.withResolvers<Uint8Array>();
  const large: RandomAccessSource = { sizeBytes: LARGE_FILE_BYTES + 1, read: () => held.promise };
  const stop = new AbortController();
  const blocked = [1, 2].map(() => indexer.act("askForever", stop.signal, large));
  await setImmediate(); // all have taken their turns
  assert.ok(await indexer.act("succeed"));
  stop.abort(new Error("enough"));
  for (const reading of blocked) await assert.rejects(reading, /enough/);
  assert.ok(await indexer.act("succeed", never, large));
});

const record = { name: "downlink.salvage", facts: { of: "a.mcap" } };

test("a salvage is a recording of what is readable, and names its source and what was lost", async () => {
  await using indexer = openFileIndexer();
  const cut = (await makeMcap({ chunkBytes: 20_000 })).slice(0, -100_000);
  const pieces = await Array.fromAsync(
    indexer.salvage(bytesSource(cut), { fileName: "a.mcap", record, signal: never }),
  );
  const inspection = await inspectRecording(bytesSource(Buffer.concat(pieces)), { fileName: "salvage.mcap" });
  assert.ok(inspection.state === "finished");
  const { metadata } = inspection.summary.metadata.at(-1)!;
  assert.equal(metadata.of, "a.mcap");
  assert.equal(metadata.messageCount, `${inspection.summary.messageCount}`);
  assert.equal(Number(metadata.readableBytes) + Number(metadata.lostBytes), cut.byteLength);
});

test("a file of which nothing can be salvaged is refused with a code and a sentence, and the next one is read", async () => {
  await using indexer = openFileIndexer();
  const salvage = (bytes: Uint8Array) =>
    Array.fromAsync(indexer.salvage(bytesSource(bytes), { fileName: "a.mcap", record, signal: never }));
  await assert.rejects(salvage(Buffer.from("rubbish")), (error: Error) => {
    return (
      error instanceof SalvageRefusedError && error.code === "SalvageEmpty" && /not one message/.test(error.message)
    );
  });
  assert.ok((await salvage(await makeMcap())).length > 0);
});

slowTest(
  "a salvage whose thread ends, throws or fails only fails itself; one that nobody reads any more, or that is aborted, gives back its turn",
  async () => {
    await using indexer = openFileIndexer({ main, limits: { threads: 1, heapCeilingMegabytes: 64 } });
    const salvage = (fileName: string, signal = never) => indexer.salvage(nothing, { fileName, record, signal });
    for (const fileName of ["exit", "throwLater", "fail"])
      await assert.rejects(Array.fromAsync(salvage(fileName)), ThreadFailedError, fileName);
    await assert.rejects(Array.fromAsync(salvage("hoard")), ThreadOutOfMemoryError);
    for await (const piece of salvage("giveForEver")) {
      assert.equal(piece.byteLength, 3);
      break;
    }
    const stopping = new AbortController();
    const spinning = Array.fromAsync(salvage("spin", stopping.signal));
    stopping.abort(new Error("told to stop"));
    await assert.rejects(spinning, /told to stop/);
    assert.ok(await indexer.index(nothing, { fileName: "succeed", signal: never, store: drop }));
  },
);

slowTest(
  "a file that needs much memory waits alone for the exports that hold it, and an abort ends its waiting",
  async (t) => {
    const directory = await mkdtemp(join(tmpdir(), "indexer-"));
    t.after(() => rm(directory, { recursive: true }));
    const path = join(directory, "wide.mcap");
    const spec = { compression: "zstd", messageBytes: 100_000, chunkBytes: 40_000_000, startNs: 1n } as const;
    await writeLargeFile(path, { ...spec, windowLog: 24 });
    await using wide = await FileSource.open(path);
    await using indexer = openFileIndexer({ limits: { threads: 2, readMs: 1000, tickMs: 10 } });
    const small = bytesSource(await makeMcap());
    const index = (source: RandomAccessSource, signal = never) =>
      indexer.index(source, { fileName: "a.mcap", signal, store: drop });
    const all = await largeMemory.take(Number.MAX_SAFE_INTEGER, undefined);
    let isDone = false;
    const ended = new AbortController();
    const given = index(wide, ended.signal);
    const waiting = given.finally(() => {
      isDone = true;
    });
    waiting.catch(() => undefined);
    for (let count = 0; count < 10; count += 1) assert("summary" in (await index(small)).verdict);
    assert.equal(isDone, false);
    ended.abort(new Error("nobody waits any more"));
    await assert.rejects(given, /nobody waits any more/);
    const next = index(wide);
    await index(small);
    all[Symbol.dispose]();
    assert("summary" in (await next).verdict);
    (await largeMemory.take(Number.MAX_SAFE_INTEGER, undefined))[Symbol.dispose](); // everything was given back
  },
);

test("the memory that a thread holds is given back when the thread ends", async () => {
  await using indexer = openMisbehaving();
  await assert.rejects(indexer.act("holdAndExit"), ThreadFailedError);
  await assert.rejects(indexer.act("holdAndExit"), ThreadFailedError);
  (await largeMemory.take(Number.MAX_SAFE_INTEGER, undefined))[Symbol.dispose]();
});
