import type { Dice } from "./dice.ts";
import {
  alsoLie,
  chunksOf,
  type Draft,
  type DraftItem,
  type DraftRecord,
  withChunks,
  withRecords,
  withSummary,
} from "./draft.ts";
import { insertItems } from "./insert.ts";
import type { OddKind } from "./kind.ts";
import type { ChannelFields, Name, SchemaFields } from "./record-bytes.ts";
import { makeAttachment, makeMetadata } from "./sound-draft.ts";

/** Odd values of fields, and fields that are not in the format. */
export const fieldKinds: readonly OddKind[] = [
  {
    name: "names that are no UTF-8",
    grade: "legal",
    twist: (draft) =>
      rename(draft, (name) => Buffer.concat([Buffer.from(name as string), Uint8Array.of(0xff, 0xc3, 0x28)])),
  },
  { name: "names with the character 0", grade: "legal", twist: (draft) => rename(draft, (name) => `${name}\0x`) },
  { name: "names that are empty", grade: "legal", twist: (draft) => rename(draft, () => "") },
  {
    name: "the same key twice in a metadata record",
    grade: "wrong",
    twist: (draft, dice) =>
      insertItems(draft, dice, () => ({
        kind: "metadata",
        metadata: {
          name: "twice",
          entries: [
            ["k", "1"],
            ["k", "2"],
          ],
        },
      })),
  },
  {
    name: "the same key twice in a channel",
    grade: "wrong",
    twist: (draft) =>
      mapChannels(draft, (channel) => ({
        ...channel,
        metadata: [
          ["k", "1"],
          ["k", "2"],
        ],
      })),
  },
  {
    name: "an attachment of the time 2^64-1",
    grade: "wrong",
    twist: (draft, dice) => insertAttachment(draft, dice, { logTimeNs: 2n ** 64n - 1n, createTimeNs: 2n ** 64n - 1n }),
  },
  {
    name: "an attachment with a wrong checksum",
    grade: "wrong",
    twist: (draft, dice) => insertAttachment(draft, dice, { crc: "wrong" }),
  },
  {
    name: "an attachment of a time without messages",
    grade: "legal",
    twist: (draft, dice) => insertAttachment(draft, dice, { logTimeNs: dice.pick([0n, 2n ** 63n - 1n]) }),
  },
  {
    name: "indexes of attachments and metadata that are wrong",
    grade: "wrong",
    twist(draft, dice) {
      const all = insertItems(insertAttachment(draft, dice, {}), dice, () => makeMetadata(dice));
      const [moved, longer] = [dice.pick([0, 1, -9, 2 ** 40]), dice.pick([0, 1, -1, 2 ** 40])];
      return withSummary(all, ({ places }) => ({
        places: alsoLie(places, (place) => ({
          offset: Math.max(0, place.offset + moved),
          lengthBytes: Math.max(0, place.lengthBytes + longer),
        })),
      }));
    },
  },
  {
    name: "added fields in schemas",
    grade: "legal",
    twist: (draft, dice) => {
      const added = dice.bytes(dice.between(1, 9));
      return mapSchemas(draft, (schema) => ({ ...schema, added }));
    },
  },
  {
    name: "added fields in channels",
    grade: "legal",
    twist: (draft, dice) => {
      const added = dice.bytes(dice.between(1, 9));
      return mapChannels(draft, (channel) => ({ ...channel, added }));
    },
  },
  {
    name: "added fields in metadata and attachments",
    grade: "legal",
    twist(draft, dice) {
      const all = insertItems(
        insertItems(draft, dice, () => makeMetadata(dice)),
        dice,
        () => makeAttachment(dice),
      );
      const added = dice.bytes(dice.between(1, 9));
      return { ...all, items: all.items.map((item) => addFields(item, added)) };
    },
  },
  {
    name: "added fields in chunks",
    grade: "legal",
    twist: (draft, dice) =>
      withChunks(draft, dice.pickSome(chunksOf(draft)), () => ({ added: dice.bytes(dice.between(1, 20)) })),
  },
  {
    name: "added fields in message indexes",
    grade: "legal",
    twist: (draft, dice) => {
      const added = dice.bytes(dice.between(1, 20));
      return withChunks(draft, chunksOf(draft), ({ indexes }) => ({
        indexes: alsoLie(indexes, (list) => list.map((index) => ({ ...index, added }))),
      }));
    },
  },
  {
    name: "added fields in statistics and chunk indexes",
    grade: "legal",
    twist: (draft, dice) => {
      const added = dice.bytes(dice.between(1, 20));
      return withSummary(draft, ({ statistics, chunkIndexes }) => ({
        statistics: alsoLie(statistics, (list) => list.map((each) => ({ ...each, added }))),
        chunkIndexes: alsoLie(chunkIndexes, (list) => list.map((each) => ({ ...each, added }))),
      }));
    },
  },
];

function rename(draft: Draft, change: (name: Name) => Name): Draft {
  const schemas = mapSchemas(draft, (schema) => ({ ...schema, name: change(schema.name) }));
  return mapChannels(schemas, (channel) => ({
    ...channel,
    topic: change(channel.topic),
    metadata: channel.metadata.map(([key, value]) => [key, change(value)] as const),
  }));
}

/** Wherever they are defined, also in the summary, which repeats those of the draft. */
function mapChannels(draft: Draft, change: (channel: ChannelFields) => ChannelFields): Draft {
  const changed = withRecords(draft, (record): DraftRecord[] =>
    record.kind === "channel" ? [{ ...record, channel: change(record.channel) }] : [record],
  );
  return { ...changed, channels: draft.channels.map(change) };
}

function mapSchemas(draft: Draft, change: (schema: SchemaFields) => SchemaFields): Draft {
  const changed = withRecords(draft, (record): DraftRecord[] =>
    record.kind === "schema" ? [{ ...record, schema: change(record.schema) }] : [record],
  );
  return { ...changed, schemas: draft.schemas.map(change) };
}

function insertAttachment(draft: Draft, dice: Dice, about: object): Draft {
  return insertItems(draft, dice, () => {
    const made = makeAttachment(dice);
    return made.kind === "attachment" ? { ...made, attachment: { ...made.attachment, ...about } } : made;
  });
}

function addFields(item: DraftItem, added: Uint8Array): DraftItem {
  if (item.kind === "metadata") return { ...item, metadata: { ...item.metadata, added } };
  return item.kind === "attachment" ? { ...item, attachment: { ...item.attachment, added } } : item;
}
