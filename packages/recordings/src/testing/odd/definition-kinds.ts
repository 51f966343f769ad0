import type { Dice } from "./dice.ts";
import { chunksOf, type Draft, type DraftItem, messagesOf, withChunks, withRecords, withSummary } from "./draft.ts";
import { insertItems } from "./insert.ts";
import type { OddKind } from "./kind.ts";
import type { ChannelFields } from "./record-bytes.ts";
import { channelIdsIn, definitionsOf } from "./sound-draft.ts";

/** How channels and schemas are introduced. Spec: MCAP "Schema", "Channel". */
export const definitionKinds: readonly OddKind[] = [
  {
    name: "channels repeated in each chunk",
    grade: "legal",
    twist: (draft) =>
      withChunks(draft, chunksOf(draft), ({ records }) => ({
        records: [...definitionsOf(channelIdsIn(records), draft), ...records],
      })),
  },
  {
    name: "a schema with the id 0",
    grade: "legal",
    twist: (draft, dice) =>
      insertItems(draft, dice, () => ({
        kind: "schema",
        schema: { id: 0, name: dice.pick(["none", "other"]), encoding: "", data: dice.bytes(dice.below(5)) },
      })),
  },
  {
    name: "definitions only in the summary",
    grade: "wrong",
    rivals: ["definitions"],
    twist: (draft) => keepDefinitions(draft, []),
  },
  {
    name: "definitions behind the messages",
    grade: "wrong",
    rivals: ["definitions"],
    twist: (draft) => keepDefinitions(draft, definitionsOf(new Set(draft.channels.map(({ id }) => id)), draft)),
  },
  {
    name: "messages before their channel in a chunk",
    grade: "wrong",
    rivals: ["definitions"],
    twist(draft) {
      const bare = keepDefinitions(draft, []);
      return withChunks(bare, chunksOf(bare), ({ records }) => ({
        records: [...records, ...definitionsOf(channelIdsIn(records), draft)],
      }));
    },
  },
  { name: "a channel defined differently twice", grade: "wrong", rivals: ["definitions"], twist: redefineChannel },
  { name: "a schema defined differently twice", grade: "wrong", rivals: ["definitions"], twist: redefineSchema },
  {
    name: "a channel that the summary gives differently",
    grade: "wrong",
    rivals: ["definitions"],
    twist: (draft, dice) => {
      const { id } = dice.pick(draft.channels);
      const change = changeOf(dice);
      return withSummary(draft, () => ({
        channels: (list) => list.map((channel) => (channel.id === id ? { ...channel, ...change } : channel)),
      }));
    },
  },
  {
    name: "a channel without its schema",
    grade: "wrong",
    rivals: ["definitions"],
    twist(draft, dice) {
      const { id } = dice.pick(draft.schemas);
      const cut = withRecords(draft, (record) => (record.kind === "schema" && record.schema.id === id ? [] : [record]));
      const schemas = draft.schemas.filter((schema) => schema.id !== id);
      return { ...cut, schemas };
    },
  },
  {
    name: "many channels",
    grade: "legal",
    isRare: true,
    twist: (draft, dice) => addChannels(draft, dice.between(1000, 20_000)),
  },
  { name: "a channel of each id", grade: "wrong", isRare: true, twist: (draft) => addChannels(draft, 65_536) },
];

function keepDefinitions(draft: Draft, last: readonly DraftItem[]): Draft {
  const bare = withRecords(draft, (record) => (record.kind === "schema" || record.kind === "channel" ? [] : [record]));
  const end = bare.items.findIndex(({ kind }) => kind === "dataEnd");
  const at = end < 0 ? bare.items.length : end;
  return { ...bare, items: [...bare.items.slice(0, at), ...last, ...bare.items.slice(at)] };
}

function changeOf(dice: Dice): Partial<ChannelFields> {
  return dice.pick([{ topic: "/other" }, { messageEncoding: "other" }, { metadata: [["other", "1"]] as const }]);
}

/** It is not known which one the messages of the channel belong to. */
function redefineChannel(draft: Draft, dice: Dice): Draft {
  const channel = dice.pick(draft.channels);
  const again: DraftItem = { kind: "channel", channel: { ...channel, ...changeOf(dice) } };
  return insertItems(loseChannels(draft, new Set([channel.id])), dice, () => again);
}

function redefineSchema(draft: Draft, dice: Dice): Draft {
  const schema = dice.pick(draft.schemas);
  const ids = draft.channels.flatMap(({ id, schemaId }) => (schemaId === schema.id ? [id] : []));
  const again: DraftItem = {
    kind: "schema",
    schema: { ...schema, ...dice.pick([{ name: "Other" }, { data: dice.bytes(31) }]) },
  };
  return insertItems(loseChannels(draft, new Set(ids)), dice, () => again);
}

function loseChannels(draft: Draft, ids: ReadonlySet<number>): Draft {
  return withRecords(draft, (record) =>
    record.kind === "message" && ids.has(record.message.channelId) ? [{ ...record, isLost: true }] : [record],
  );
}

/** Adds so many channels, each with a message. */
export function addChannels(draft: Draft, count: number): Draft {
  const used = new Set(draft.channels.map(({ id }) => id));
  const [like] = draft.channels;
  const added: ChannelFields[] = [];
  for (let id = 0; used.size + added.length < count; id += 1) {
    if (!used.has(id)) added.push({ ...like!, id, topic: `/many/${id}`, metadata: [] });
  }
  const [chunk] = chunksOf(draft);
  const [message] = messagesOf(draft);
  const all = { ...draft, channels: [...draft.channels, ...added] };
  if (!chunk || !message) return all;
  const records = added.flatMap((channel) => [
    { kind: "channel", channel } as const,
    { kind: "message", message: { ...message, channelId: channel.id } } as const,
  ]);
  const schema = draft.schemas.find(({ id }) => id === like!.schemaId);
  const head = schema ? [{ kind: "schema", schema } as const] : [];
  return withChunks(all, [chunk], (old) => ({ records: [...old.records, ...head, ...records] }));
}
