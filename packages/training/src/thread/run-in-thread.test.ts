import assert from "node:assert/strict";
import { test } from "node:test";
import { TrainingMapping } from "@downlink/protocol";
import { McapWriter, TempBuffer } from "@mcap/core";
import type { Episode, StoredEpisode } from "../episodes/episode.ts";
import { setWriters } from "../formats/writers.ts";
import { makeEpisode } from "../testing/make-episode.ts";
import { MemoryFiles } from "../testing/memory-files.ts";
import { tryEpisode, writeSet } from "./run-in-thread.ts";

const START_NS = 1_767_323_045_000_000_001n;
const mapping = TrainingMapping.parse({
  fps: 30,
  topics: ["/joints"],
  features: { state: { dtype: "float32", parts: [{ topic: "/joints", field: "position" }] } },
});
const trial = { format: "lerobot-v3", mapping, rowCount: 1 } as const;
const { signal: never } = new AbortController();

const picks = ["epi_1", "epi_2"].map((id, place) =>
  makeEpisode({
    id,
    messages: Array.from({ length: 300 }, (_, index) => ({
      topic: "/joints",
      atNs: START_NS + BigInt(place * 10_000_000_000 + index * 10_000_000),
      value: { position: [index, -index] },
    })),
  }),
);

/** Stores the messages of an episode in pieces of memory that is written over. */
function store({ read, ...facts }: Episode): StoredEpisode {
  return {
    ...facts,
    async *readMcap(topics, window) {
      const file = new TempBuffer();
      const writer = new McapWriter({ writable: file });
      await writer.start({ profile: "", library: "" });
      let channelId: number | undefined;
      for await (const { channel, logTimeNs: logTime, publishTimeNs: publishTime, ...rest } of read(topics, window)) {
        const { schemaName: name, schemaEncoding: encoding, schema: data, topic, messageEncoding } = channel;
        channelId ??= await writer.registerChannel({
          schemaId: await writer.registerSchema({ name, encoding, data }),
          ...{ topic, messageEncoding, metadata: new Map() },
        });
        await writer.addMessage({ channelId, logTime, publishTime, ...rest });
      }
      await writer.end();
      const piece = new Uint8Array(1000);
      for (let at = 0; at < file.get().byteLength; at += piece.byteLength) {
        const part = file.get().subarray(at, at + piece.byteLength);
        piece.set(part);
        yield piece.subarray(0, part.byteLength);
      }
    },
  };
}

async function* stored(): AsyncGenerator<StoredEpisode> {
  for (const pick of picks) yield store(pick);
}

test("a thread writes the files that are written without one, and says what is done", async () => {
  for (const format of ["lerobot-v3", "parquet"] as const) {
    const [files, direct] = [new MemoryFiles(), new MemoryFiles()];
    const counts: number[] = [];
    const onEpisode = (count: number) => void counts.push(count);
    const asked = { format, mapping, about: { version: 1 }, signal: never };
    const reports = await writeSet({ ...asked, episodes: stored(), open: files.open, onEpisode });
    assert.deepEqual(await setWriters[format].write({ ...asked, episodes: picks, open: direct.open }), reports);
    assert.deepEqual(counts, [1, 2]);
    assert.deepEqual(files.paths, direct.paths);
    for (const path of files.paths) assert.ok(files.read(path).equals(direct.read(path)), path);
  }
});

test("an error of what serves the thread is thrown as it is, and a refusal with its sentence", async () => {
  const full = Object.assign(new Error("the disk is full"), { code: "ENOSPC" });
  const asked = { format: "lerobot-v3", mapping, about: {}, signal: never } as const;
  const open = () => ({ write: () => Promise.reject(full), close: async () => undefined });
  await assert.rejects(writeSet({ ...asked, episodes: stored(), open }), (error) => error === full);
  const lost = new Error("the recording went");
  const going = { ...store(picks[0]!), readMcap: () => fail(lost) };
  await assert.rejects(tryEpisode({ ...trial, episode: going, signal: never }), (error) => error === lost);
  const { features: _, ...tables } = mapping;
  const trying = tryEpisode({ ...trial, mapping: tables, episode: store(picks[0]!), signal: never });
  await assert.rejects(trying, { name: "TrainingError", message: /^the mapping has no features/ });
});

// biome-ignore lint/correctness/useYield: it fails before.
async function* fail(error: Error): AsyncGenerator<Uint8Array> {
  throw error;
}

test("a thread that reads without end is ended, with its reading, and the next one works", async () => {
  const ending = new AbortController();
  const ended = Promise.withResolvers<void>();
  const endless: StoredEpisode = {
    ...store(picks[0]!),
    async *readMcap(topics, window) {
      const [first] = await Array.fromAsync(store(picks[0]!).readMcap(topics, window));
      try {
        yield first!;
        for (;;) {
          yield new Uint8Array([0x0f, 100, 0, 0, 0, 0, 0, 0, 0, ...new Uint8Array(100)]); // the end of data, again and again
          if (!ending.signal.aborted) setImmediate(() => ending.abort(new Error("it took too long")));
          await new Promise(setImmediate);
        }
      } finally {
        ended.resolve();
      }
    },
  };
  const trying = tryEpisode({ ...trial, episode: endless, signal: ending.signal });
  await assert.rejects(trying, /it took too long/);
  await ended.promise;
  const { rows } = await tryEpisode({ ...trial, rowCount: 2, episode: store(picks[0]!), signal: never });
  assert.equal(rows.length, 2);
});
