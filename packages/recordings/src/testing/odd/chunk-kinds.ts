import type { Dice } from "./dice.ts";
import { alsoLie, type ChunkSpan, chunksOf, type Draft, type DraftChunk, type Lie, withChunks } from "./draft.ts";
import type { OddKind } from "./kind.ts";

/** The statements of the head of a chunk. Spec: MCAP "Chunk". */
export const chunkKinds: readonly OddKind[] = [
  wrongSpan("chunk times of 0", () => ({ startNs: 0n, endNs: 0n })),
  wrongSpan("chunk times that are too narrow", ({ startNs, endNs }) => {
    const middleNs = (startNs + endNs) / 2n;
    return { startNs: middleNs, endNs: middleNs };
  }),
  wrongSpan("chunk times that are too wide", ({ startNs, endNs }) => ({ startNs: startNs / 2n, endNs: endNs + 1000n })),
  wrongSpan("chunk times that are turned around", ({ startNs, endNs }) => ({ startNs: endNs + 1n, endNs: startNs })),
  {
    name: "chunk times of the first and last message",
    grade: "wrong",
    twist: (draft, dice) =>
      withChunks(draft, chunksOf(draft), (chunk) => {
        const messages = dice.shuffle(chunk.records.filter((record) => record.kind === "message"));
        const [first, last] = [messages[0], messages.at(-1)];
        if (!first || !last) return {};
        const span = { startNs: first.message.logTimeNs, endNs: last.message.logTimeNs };
        const records = [...chunk.records.filter(({ kind }) => kind !== "message"), ...messages];
        return { records, head: alsoLie(chunk.head, (truth) => ({ ...truth, ...span })) };
      }),
  },
  {
    name: "a flipped bit in chunk times",
    grade: "wrong",
    twist: (draft, dice) =>
      lieInHead(draft, dice, () => {
        const bit = 1n << BigInt(dice.below(64));
        const isStart = dice.chance(0.5);
        return (truth) =>
          isStart ? { ...truth, startNs: truth.startNs ^ bit } : { ...truth, endNs: truth.endNs ^ bit };
      }),
  },
  {
    name: "a wrong size in a chunk's head",
    grade: "wrong",
    twist: (draft, dice) =>
      lieInHead(draft, dice, () => {
        const difference = dice.pick([-1, 1, 30, 100_000]);
        return (truth) => ({ ...truth, uncompressedBytes: Math.max(0, truth.uncompressedBytes + difference) });
      }),
  },
  {
    name: "chunks without a checksum",
    grade: "legal",
    twist: (draft, dice) => changeSome(draft, dice, () => ({ crc: "none" })),
  },
  {
    name: "a chunk that fails its checksum",
    grade: "wrong",
    rivals: ["frames"],
    twist: (draft, dice) => changeSome(draft, dice, () => ({ crc: "wrong", isLost: true })),
  },
  {
    name: "a chunk that is cut off",
    grade: "wrong",
    rivals: ["frames"],
    twist: (draft, dice) =>
      changeSome(draft, dice, ({ frame }) => ({ frame: (records) => frame(records).slice(0, -1), isLost: true })),
  },
  {
    name: "an unknown compression",
    grade: "wrong",
    rivals: ["frames"],
    twist: (draft, dice) =>
      changeSome(draft, dice, () => ({ compression: dice.pick(["brotli", "LZ4", "zstd "]), isLost: true })),
  },
  {
    name: "the compression named none",
    grade: "wrong",
    rivals: ["frames"],
    twist: (draft, dice) => changeSome(draft, dice, () => ({ compression: "none", frame: (records) => records })),
  },
];

type Span = Pick<ChunkSpan, "startNs" | "endNs">;

function wrongSpan(name: string, lie: (truth: Span) => Span): OddKind {
  return {
    name,
    grade: "wrong",
    twist: (draft, dice) => lieInHead(draft, dice, () => (truth) => ({ ...truth, ...lie(truth) })),
  };
}

function lieInHead(draft: Draft, dice: Dice, makeLie: () => Lie<ChunkSpan>): Draft {
  return changeSome(draft, dice, ({ head }) => ({ head: alsoLie(head, makeLie()) }));
}

function changeSome(draft: Draft, dice: Dice, change: (chunk: DraftChunk) => Partial<DraftChunk>): Draft {
  return withChunks(draft, dice.pickSome(chunksOf(draft)), change);
}
