import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { exportMcap } from "../export/export-mcap.ts";
import { indexRecording } from "../inspect/index-recording.ts";
import { FileSource } from "../sources/file-source.ts";
import { collect } from "../testing/collect.ts";
import { eventually } from "../testing/eventually.ts";
import { exportSource } from "../testing/export-bytes.ts";
import { writeLargeFile } from "../testing/large/write-large-file.ts";
import { createLargeMemory } from "./large-memory.ts";

const directory = await mkdtemp(join(tmpdir(), "large-memory-"));
after(() => rm(directory, { recursive: true }));
const path = join(directory, "wide.mcap");
const spec = { compression: "zstd", messageBytes: 100_000, chunkBytes: 40_000_000, startNs: 1n } as const;
const WINDOW_BYTES = 2 ** 24;
await writeLargeFile(path, { ...spec, windowLog: 24 });

/** Grants nothing before `open` is called. */
function openGate() {
  const asked: number[] = [];
  const waiting: (() => void)[] = [];
  let held = 0;
  const hold = async (sizeBytes: number): Promise<Disposable> => {
    asked.push(sizeBytes);
    await new Promise<void>((resolve) => waiting.push(resolve));
    held += 1;
    return {
      [Symbol.dispose]() {
        held -= 1;
      },
    };
  };
  return { asked, hold, held: () => held, open: () => waiting.shift()!() };
}

async function untilAsked({ asked }: { asked: number[] }, count: number): Promise<void> {
  await eventually(
    () => asked.length,
    (length) => length >= count,
  );
}

test("indexing waits for its turn before a decoder holds a large window, and gives it back", async () => {
  const gate = openGate();
  await using source = await FileSource.open(path);
  const indexing = indexRecording(source, { fileName: path, write: async () => {}, hold: gate.hold });
  await untilAsked(gate, 1);
  assert.deepEqual(gate.asked, [WINDOW_BYTES]);
  gate.open();
  assert.equal((await indexing).state, "finished");
  assert.equal(gate.held(), 0);
});

test("an export waits for its turn in the thread that indexes for it, and an end of it gives everything back", async () => {
  for (const isEnded of [false, true]) {
    const gate = openGate();
    const ended = new AbortController();
    await using file = await FileSource.open(path);
    const source = exportSource(file, { fileName: path });
    const options = { compression: "zstd", hold: gate.hold, signal: ended.signal } as const;
    const exported = collect(exportMcap([source], options));
    exported.catch(() => undefined);
    await untilAsked(gate, 1);
    if (isEnded) ended.abort(new Error("nobody wants it"));
    const opening = setInterval(() => gate.asked.length > 0 && tryOpen(gate), 1);
    if (isEnded) await assert.rejects(exported, /nobody wants it|the export was ended/);
    else assert.ok((await exported).byteLength > 0);
    clearInterval(opening);
    assert.equal(gate.held(), 0);
  }
});

function tryOpen(gate: ReturnType<typeof openGate>): void {
  try {
    gate.open();
  } catch {
    // no caller waits at the moment
  }
}

test("turns come in the order in which they are asked for, and one that is too large gets everything", async () => {
  const memory = createLargeMemory(100);
  const order: string[] = [];
  const first = await memory.take(60, undefined);
  const use = async (name: string, sizeBytes: number): Promise<void> => {
    using _turn = await memory.take(sizeBytes, undefined);
    order.push(name);
  };
  const uses = [use("large", 1000), use("small", 10)];
  await new Promise(setImmediate);
  assert.deepEqual(order, []);
  first[Symbol.dispose]();
  await Promise.all(uses);
  assert.deepEqual(order, ["large", "small"]);
});

test("a reader that gives up waiting does not delay the others", async () => {
  const memory = createLargeMemory(100);
  const ended = new AbortController();
  using _first = await memory.take(60, undefined);
  const given = memory.take(80, ended.signal);
  const next = memory.take(40, undefined);
  ended.abort(new Error("over"));
  await assert.rejects(given, /over/);
  (await next)[Symbol.dispose]();
});
