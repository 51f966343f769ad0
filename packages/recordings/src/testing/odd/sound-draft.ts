import { zstdCompressSync } from "node:zlib";
import { compressFrameSync } from "lz4-napi";
import type { Dice } from "./dice.ts";
import type { Compression, Draft, DraftChunk, DraftItem, DraftRecord, DraftSummary, SummaryGroup } from "./draft.ts";
import { type ChannelFields, headerRecord, type MessageFields, type SchemaFields } from "./record-bytes.ts";

/** A file that is as the format wants it. No two are alike: ids, places of definitions, times, sizes and indexes differ. */
export function makeSoundDraft(dice: Dice): Draft {
  const compression = dice.pick(["", "lz4", "zstd"] as const);
  const schemas = Array.from({ length: dice.between(1, 2) }, (_, index) => makeSchema(index + 1, dice));
  const channels = makeChannels(schemas, dice);
  const chunks = makeChunks(channels, { compression, dice });
  const header = [headerRecord("odd")];
  const draft = { compression, header, schemas, channels, items: chunks, summary: soundSummary(dice) };
  const items: DraftItem[] = [
    ...placeDefinitions(draft, dice),
    ...(dice.chance(0.4) ? [makeMetadata(dice)] : []),
    ...(dice.chance(0.4) ? [makeAttachment(dice)] : []),
    { kind: "dataEnd", crc: dice.pick(["right", "none"]) },
  ];
  return { ...draft, items };
}

export function makeChunk(records: readonly DraftRecord[], compression: Compression): DraftChunk {
  const truth = <T>(value: T): T => value;
  return {
    kind: "chunk",
    records,
    compression,
    frame: (bytes) => compress(bytes, compression),
    crc: "right",
    head: truth,
    indexes: truth,
    added: new Uint8Array(0),
  };
}

export function compress(bytes: Uint8Array, compression: Compression): Uint8Array {
  if (compression === "lz4") return compressFrameSync(Buffer.from(bytes));
  return compression === "zstd" ? zstdCompressSync(bytes) : bytes;
}

export function definitionsOf(
  ids: ReadonlySet<number>,
  { channels, schemas }: Pick<Draft, "channels" | "schemas">,
): DraftRecord[] {
  const wanted = channels.filter(({ id }) => ids.has(id));
  const schemaIds = new Set(wanted.map(({ schemaId }) => schemaId));
  return [
    ...schemas.filter(({ id }) => schemaIds.has(id)).map((schema): DraftRecord => ({ kind: "schema", schema })),
    ...wanted.map((channel): DraftRecord => ({ kind: "channel", channel })),
  ];
}

export function channelIdsIn(records: readonly DraftRecord[]): Set<number> {
  return new Set(records.flatMap((record) => (record.kind === "message" ? [record.message.channelId] : [])));
}

export function makeMetadata(dice: Dice): DraftItem {
  const entries = Array.from({ length: dice.below(3) }, (_, index) => [`key ${index}`, `${dice.below(100)}`] as const);
  return { kind: "metadata", metadata: { name: dice.pick(["robot", "site", "notes"]), entries } };
}

export function makeAttachment(dice: Dice): DraftItem {
  const logTimeNs = BigInt(dice.below(2000));
  const about = { name: "map.bin", mediaType: "application/octet-stream", data: dice.bytes(dice.below(60)) };
  const crc = dice.pick(["right", "none"] as const);
  return { kind: "attachment", attachment: { ...about, logTimeNs, createTimeNs: 0n, crc } };
}

function makeSchema(id: number, dice: Dice): SchemaFields {
  return { id, name: `pkg/Type${id}`, encoding: "ros2msg", data: dice.bytes(dice.below(30)) };
}

/** Two of them may have the same topic, with another schema or encoding. */
function makeChannels(schemas: readonly SchemaFields[], dice: Dice): ChannelFields[] {
  const ids = dice.shuffle([0, 1, 2, 3, 4, 5, 300, 65_534, 65_535]).slice(0, dice.between(1, 4));
  return ids.map((id, index) => ({
    id,
    schemaId: dice.chance(0.15) ? 0 : dice.pick(schemas).id,
    topic: index > 0 && dice.chance(0.1) ? "/topic0" : `/topic${index}`,
    messageEncoding: dice.pick(["cdr", "cdr", "json"]),
    metadata: dice.chance(0.3) ? [["frame", `${index}`] as const] : [],
  }));
}

interface Making {
  readonly compression: Compression;
  readonly dice: Dice;
}

function makeChunks(channels: readonly ChannelFields[], { compression, dice }: Making): DraftChunk[] {
  let timeNs = dice.pick([1n, 100n, 1_700_000_000_000_000_000n]);
  let sequence = 0;
  const stepNs = dice.pick([3, 50, 1_000_000]);
  return Array.from({ length: dice.between(1, 5) }, () => {
    const records = Array.from({ length: dice.between(1, 12) }, (): DraftRecord => {
      timeNs += BigInt(dice.below(stepNs));
      sequence += 1;
      return { kind: "message", message: makeMessage({ channelId: dice.pick(channels).id, sequence, timeNs }, dice) };
    });
    timeNs += 1n;
    return makeChunk(records, compression);
  });
}

function makeMessage(
  { channelId, sequence, timeNs }: { channelId: number; sequence: number; timeNs: bigint },
  dice: Dice,
): MessageFields {
  const publishTimeNs = dice.chance(0.2) ? timeNs - 1n : timeNs;
  return { channelId, sequence, logTimeNs: timeNs, publishTimeNs, data: dice.bytes(dice.between(1, 50)) };
}

/** Definitions stand before everything, in the first chunk that needs them, or in both. */
function placeDefinitions({ channels, schemas, items }: Draft, dice: Dice): DraftItem[] {
  const place = dice.pick(["before", "inside", "both"]);
  const every = definitionsOf(new Set(channels.map(({ id }) => id)), { channels, schemas });
  if (place === "before") return [...every, ...items];
  const defined = new Set<number>();
  const filled = items.map((item) => {
    if (item.kind !== "chunk") return item;
    const fresh = new Set([...channelIdsIn(item.records)].filter((id) => !defined.has(id)));
    for (const id of fresh) defined.add(id);
    return { ...item, records: [...definitionsOf(fresh, { channels, schemas }), ...item.records] };
  });
  return place === "both" ? [...every, ...filled] : filled;
}

const summaryGroups: readonly SummaryGroup[] = [
  "schemas",
  "channels",
  "statistics",
  "chunkIndexes",
  "attachmentIndexes",
  "metadataIndexes",
];

function soundSummary(dice: Dice): DraftSummary {
  const truth = <T>(value: T): T => value;
  return {
    groups: summaryGroups,
    hasOffsets: dice.chance(0.8),
    schemas: truth,
    channels: truth,
    statistics: truth,
    chunkIndexes: truth,
    places: truth,
    offsets: truth,
    section: truth,
    footer: truth,
    crc: dice.pick(["right", "right", "none"]),
  };
}
