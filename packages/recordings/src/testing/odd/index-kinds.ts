import type { Dice } from "./dice.ts";
import { alsoLie, chunksOf, type Draft, type Lie, withChunks } from "./draft.ts";
import type { OddKind } from "./kind.ts";
import { type MessageIndexFields, record } from "./record-bytes.ts";

/** The statements of the message indexes behind a chunk. Spec: MCAP "Message Index". */
export const indexKinds: readonly OddKind[] = [
  lyingIndexes("message indexes with wrong offsets", "wrong", (dice) => {
    const difference = dice.pick([1, 9, 31, -1]);
    return mapEntries((entry) => ({ ...entry, offset: Math.max(0, entry.offset + difference) }));
  }),
  lyingIndexes("message indexes with exchanged offsets", "wrong", (dice) =>
    mapIndexes((index) => {
      const offsets = dice.shuffle(index.entries.map(({ offset }) => offset));
      return { ...index, entries: index.entries.map((entry, at) => ({ ...entry, offset: offsets[at]! })) };
    }),
  ),
  lyingIndexes("message indexes that point beyond the chunk", "wrong", (dice) => {
    const beyond = dice.pick([100_000, 2 ** 40]);
    return mapEntries((entry) => ({ ...entry, offset: entry.offset + beyond }));
  }),
  lyingIndexes("message indexes with wrong times", "wrong", (dice) => {
    const differenceNs = dice.pick([1n, 1000n, 10n ** 12n]);
    return mapEntries((entry) => (dice.chance(0.5) ? { ...entry, timeNs: entry.timeNs + differenceNs } : entry));
  }),
  lyingIndexes("message indexes with times of 0", "wrong", () => mapEntries((entry) => ({ ...entry, timeNs: 0n }))),
  lyingIndexes("message indexes in another order", "legal", (dice) => (list) => dice.shuffle(list)),
  lyingIndexes("message indexes with entries in another order", "legal", (dice) =>
    mapIndexes((index) => ({ ...index, entries: dice.shuffle(index.entries) })),
  ),
  lyingIndexes("message indexes without some entries", "wrong", (dice) =>
    mapIndexes((index) => ({ ...index, entries: index.entries.toSpliced(dice.below(index.entries.length), 1) })),
  ),
  lyingIndexes("message indexes without any entry", "wrong", () => mapIndexes((index) => ({ ...index, entries: [] }))),
  lyingIndexes("message indexes with entries twice", "wrong", (dice) =>
    mapIndexes((index) => ({ ...index, entries: [...index.entries, dice.pick(index.entries)] })),
  ),
  lyingIndexes("the same message index twice", "wrong", (dice) => (list) => {
    const again = list[dice.below(list.length)];
    return again ? [...list, again] : list;
  }),
  lyingIndexes(
    "a message index in two parts",
    "wrong",
    () => (list) =>
      list.flatMap((index) => [
        { ...index, entries: index.entries.slice(0, 1) },
        { ...index, entries: index.entries.slice(1) },
      ]),
  ),
  lyingIndexes("message indexes of other channels", "wrong", (dice) => {
    const channelId = dice.pick([7, 0, 65_535]);
    return mapIndexes((index) => (dice.chance(0.6) ? { ...index, channelId } : index));
  }),
  lyingIndexes(
    "a message index that is missing",
    "wrong",
    (dice) => (list) => (list.length > 1 ? list.toSpliced(dice.below(list.length), 1) : list),
  ),
  lyingIndexes("chunks without message indexes", "legal", () => () => []),
  {
    name: "message indexes apart from their chunk",
    grade: "wrong",
    twist: (draft, dice) =>
      withChunks(draft, dice.pickSome(chunksOf(draft)), () => ({ gap: record(0x80, [dice.bytes(dice.below(20))]) })),
  },
  {
    name: "message indexes of channels without messages",
    grade: "legal",
    twist: (draft) =>
      withChunks(draft, chunksOf(draft), ({ indexes }) => ({
        indexes: alsoLie(indexes, (list) => {
          const indexed = new Set(list.map(({ channelId }) => channelId));
          const silent = draft.channels.filter(({ id }) => !indexed.has(id));
          return [...list, ...silent.map(({ id }) => ({ channelId: id, entries: [] }))];
        }),
      })),
  },
];

type Indexes = readonly MessageIndexFields[];

function lyingIndexes(name: string, grade: OddKind["grade"], makeLie: (dice: Dice) => Lie<Indexes>): OddKind {
  const twist = (draft: Draft, dice: Dice): Draft =>
    withChunks(draft, dice.pickSome(chunksOf(draft)), ({ indexes }) => ({ indexes: alsoLie(indexes, makeLie(dice)) }));
  return { name, grade, twist };
}

function mapIndexes(change: (index: MessageIndexFields) => MessageIndexFields): Lie<Indexes> {
  return (list) => list.map((index) => (index.entries.length > 0 ? change(index) : index));
}

type Entry = MessageIndexFields["entries"][number];

function mapEntries(change: (entry: Entry) => Entry): Lie<Indexes> {
  return mapIndexes((index) => ({ ...index, entries: index.entries.map(change) }));
}
