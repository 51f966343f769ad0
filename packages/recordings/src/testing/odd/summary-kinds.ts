import type { Dice } from "./dice.ts";
import { alsoLie, chunksOf, type Draft, type Lie, withChunks, withSummary } from "./draft.ts";
import type { OddKind } from "./kind.ts";
import type { ChunkIndexFields, StatisticsFields } from "./record-bytes.ts";

/** The statements of the chunk indexes in the summary. Spec: MCAP "Chunk Index". */
export const chunkIndexKinds: readonly OddKind[] = [
  lyingChunkIndexes(
    "a chunk index that is missing",
    "wrong",
    (dice) => (list) => list.toSpliced(dice.below(list.length), 1),
  ),
  lyingChunkIndexes(
    "a chunk index twice",
    "wrong",
    (dice) => (list) => (list.length > 0 ? [...list, dice.pick(list)] : list),
  ),
  lyingChunkIndexes("a chunk index without one channel", "wrong", (dice) =>
    mapSome(dice, (index) => ({
      ...index,
      indexOffsets: index.indexOffsets.toSpliced(dice.below(index.indexOffsets.length), 1),
    })),
  ),
  lyingChunkIndexes("chunk indexes without channels", "legal", (dice) =>
    mapSome(dice, (index) => ({ ...index, indexOffsets: [] })),
  ),
  lyingChunkIndexes("chunk indexes that name other channels", "wrong", (dice) =>
    mapSome(dice, (index) => ({ ...index, indexOffsets: index.indexOffsets.map(([, at], n) => [n + 1, at] as const) })),
  ),
  lyingChunkIndexes("chunk index times of 0", "wrong", (dice) =>
    mapSome(dice, (index) => ({ ...index, startNs: 0n, endNs: 0n })),
  ),
  lyingChunkIndexes("chunk index times that are wrong", "wrong", (dice) =>
    mapSome(dice, (index) => ({
      ...index,
      ...dice.pick([
        { startNs: index.startNs + 1n },
        { endNs: index.startNs },
        { startNs: index.endNs, endNs: index.startNs },
        { endNs: 2n ** 63n },
      ]),
    })),
  ),
  lyingChunkIndexes("chunk indexes with wrong sizes", "wrong", (dice) =>
    mapSome(dice, (index) => ({
      ...index,
      ...dice.pick([
        { chunkBytes: index.chunkBytes + 1 },
        { storedBytes: index.storedBytes + 1 },
        { storedBytes: 0 },
        { uncompressedBytes: index.uncompressedBytes - 1 },
        { indexesBytes: index.indexesBytes + 16 },
        { indexesBytes: 0 },
      ]),
    })),
  ),
  lyingChunkIndexes("chunk indexes with wrong offsets", "wrong", (dice) =>
    mapSome(dice, (index) => ({ ...index, offset: dice.pick([0, 8, index.offset + 1, 2 ** 50]) })),
  ),
  lyingChunkIndexes("chunk indexes that name another compression", "wrong", (dice) =>
    mapSome(dice, (index) => ({ ...index, compression: dice.pick(["", "lz4", "zstd", "brotli"]) })),
  ),
  lyingChunkIndexes("chunk indexes that point at each other's chunks", "wrong", (dice) => (list) => {
    const offsets = dice.shuffle(list.map(({ offset }) => offset));
    return list.map((index, at) => ({ ...index, offset: offsets[at]! }));
  }),
  {
    name: "chunks of which the summary knows nothing",
    grade: "wrong",
    twist: (draft, dice) => withChunks(draft, dice.pickSome(chunksOf(draft)), () => ({ isHidden: true })),
  },
  lyingChunkIndexes("chunk indexes in another order", "legal", (dice) => (list) => dice.shuffle(list)),
];

/** The statements of the statistics. Spec: MCAP "Statistics". */
export const statisticsKinds: readonly OddKind[] = [
  lyingStatistics("statistics of no messages", () => ({ messageCount: 0, channelCounts: [], startNs: 0n, endNs: 0n })),
  lyingStatistics("statistics of a wrong count", (truth, dice) => ({
    messageCount: Math.max(0, truth.messageCount + dice.pick([-1, 1, 1000])),
  })),
  lyingStatistics("statistics of a wrong span", (truth, dice) =>
    dice.pick([
      { startNs: truth.endNs },
      { endNs: truth.startNs },
      { startNs: 0n },
      { startNs: truth.startNs + 1n, endNs: truth.endNs + 1n },
      { endNs: 2n ** 64n - 1n },
    ]),
  ),
  lyingStatistics("statistics with wrong counts of channels", (truth, dice) => {
    const counts = dice.shuffle(truth.channelCounts.map(([, count]) => count + dice.pick([0, 1])));
    const channelCounts = truth.channelCounts.map(([id], at) => [id, counts[at]!] as const);
    return { channelCounts, messageCount: counts.reduce((sum, count) => sum + count, 0) };
  }),
  lyingStatistics("statistics that count other records wrong", (truth, dice) =>
    dice.pick([
      { chunkCount: truth.chunkCount + 1 },
      { chunkCount: 0 },
      { attachmentCount: truth.attachmentCount + 1 },
      { metadataCount: truth.metadataCount + 1 },
      { schemaCount: truth.schemaCount + 1 },
      { channelCount: truth.channelCount + 1 },
    ]),
  ),
  {
    name: "statistics without counts of channels",
    grade: "legal",
    twist: (draft) => lieInStatistics(draft, (list) => list.map((truth) => ({ ...truth, channelCounts: [] }))),
  },
  {
    name: "two statistics that differ",
    grade: "wrong",
    twist: (draft) =>
      lieInStatistics(draft, (list) =>
        list.flatMap((truth) => [truth, { ...truth, messageCount: truth.messageCount + 1 }]),
      ),
  },
];

function lyingChunkIndexes(
  name: string,
  grade: OddKind["grade"],
  makeLie: (dice: Dice) => Lie<readonly ChunkIndexFields[]>,
): OddKind {
  const twist = (draft: Draft, dice: Dice): Draft =>
    withSummary(draft, ({ chunkIndexes }) => ({ chunkIndexes: alsoLie(chunkIndexes, makeLie(dice)) }));
  return { name, grade, twist };
}

function mapSome(dice: Dice, change: (index: ChunkIndexFields) => ChunkIndexFields): Lie<readonly ChunkIndexFields[]> {
  return (list) => {
    const chosen = new Set(dice.pickSome(list));
    return list.map((index) => (chosen.has(index) ? change(index) : index));
  };
}

function lyingStatistics(
  name: string,
  lie: (truth: StatisticsFields, dice: Dice) => Partial<StatisticsFields>,
): OddKind {
  const twist = (draft: Draft, dice: Dice): Draft =>
    lieInStatistics(draft, (list) => list.map((truth) => ({ ...truth, ...lie(truth, dice) })));
  return { name, grade: "wrong", twist };
}

function lieInStatistics(draft: Draft, lie: Lie<readonly StatisticsFields[]>): Draft {
  return withSummary(draft, ({ statistics }) => ({ statistics: alsoLie(statistics, lie) }));
}
