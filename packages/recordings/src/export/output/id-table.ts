import { createHash } from "node:crypto";
import { McapRecordBuilder } from "@mcap/core";
import type { Channel, Schema } from "../../survey.ts";
import { ExportFault } from "../export-fault.ts";

/** The ids of the written file: what is byte-identical has one, whatever ids it had in its sources. */
export interface IdTable {
  /** Sets aside the ids that a source uses itself, for all that it defines; false, and nothing done, where one is taken. */
  reserve(tables: ChannelTables): boolean;
  /** The id of a channel: its own where that is free. */
  idOf(channel: Channel, schema: Schema | undefined): number;
  /** The records of a channel and its schema that were not written yet; to stand before its first message. */
  introduce(channelId: number): Uint8Array;
  /** What was introduced, for the summary. */
  encodeSchemas(): Uint8Array;
  encodeChannels(): Uint8Array;
  readonly schemaCount: number;
  readonly channelCount: number;
}

export interface ChannelTables {
  schemas: ReadonlyMap<number, Schema>;
  channels: ReadonlyMap<number, Channel>;
}

export function createIdTable(): IdTable {
  const schemas = createIds<Schema>("schemas", 1);
  const channels = createIds<Channel>("channels", 0);
  const written = { schemas: new McapRecordBuilder(), channels: new McapRecordBuilder() };
  const introduced = { schemas: new Set<number>([noSchema]), channels: new Set<number>() };

  const reserve: IdTable["reserve"] = (tables) => {
    const wantedSchemas = Array.from(tables.schemas.values(), (schema) => ({
      key: keyOfSchema(schema),
      value: schema,
    }));
    const wantedChannels = Array.from(tables.channels.values(), (channel) => ({
      key: keyOfChannel(channel),
      value: channel,
    }));
    // A text with a replaced character is not what stands in the chunks.
    if ([...wantedSchemas, ...wantedChannels].some(({ key }) => key.includes("\ufffd"))) return false;
    if (!schemas.canReserve(wantedSchemas) || !channels.canReserve(wantedChannels)) return false;
    schemas.reserve(wantedSchemas);
    channels.reserve(wantedChannels);
    return true;
  };
  const idOf: IdTable["idOf"] = (channel, schema) => {
    const schemaId = schema ? schemas.idOf(keyOfSchema(schema), schema) : noSchema;
    const renamed = { ...channel, schemaId };
    return channels.idOf(keyOfChannel(renamed), renamed);
  };
  const introduce: IdTable["introduce"] = (channelId) => {
    const builder = new McapRecordBuilder();
    if (introduced.channels.has(channelId)) return builder.buffer;
    introduced.channels.add(channelId);
    const channel = channels.at(channelId);
    const { schemaId } = channel;
    if (!introduced.schemas.has(schemaId)) {
      introduced.schemas.add(schemaId);
      for (const to of [builder, written.schemas]) to.writeSchema({ ...schemas.at(schemaId), id: schemaId });
    }
    const metadata = new Map(Object.entries(channel.metadata));
    for (const to of [builder, written.channels]) to.writeChannel({ ...channel, id: channelId, metadata });
    return builder.buffer;
  };

  return {
    reserve,
    idOf,
    introduce,
    encodeSchemas: () => written.schemas.buffer,
    encodeChannels: () => written.channels.buffer,
    get schemaCount() {
      return introduced.schemas.size - 1;
    },
    get channelCount() {
      return introduced.channels.size;
    },
  };
}

/** spec: MCAP "Channel": schema id 0 means that there is none; of channels, 0 is an id like others. */
const noSchema = 0;
/** Ids are 16 bits wide. */
const maxId = 65_535;

interface Wanted<T> {
  key: string;
  value: T;
}

/** One id for each key. */
function createIds<T extends { id: number }>(what: string, leastId: number) {
  const ids = new Map<string, number>();
  const values = new Map<number, { key: string; value: T }>();
  let lowestFree = leastId;

  const put = (id: number, key: string, value: T): number => {
    ids.set(key, id);
    values.set(id, { key, value });
    return id;
  };
  const takeFree = (): number => {
    while (values.has(lowestFree)) lowestFree += 1;
    if (lowestFree > maxId)
      throw new ExportFault("TooManyChannels", `one MCAP file holds at most ${maxId + 1 - leastId} ${what}`);
    return lowestFree;
  };
  /** Neither is the id another's, nor has the same thing another id; also among themselves. */
  const canReserve = (wanted: readonly Wanted<T>[]): boolean =>
    new Set(wanted.map(({ key }) => key)).size === wanted.length &&
    wanted.every(
      ({ key, value: { id } }) =>
        id >= leastId && id <= maxId && (values.get(id)?.key ?? key) === key && (ids.get(key) ?? id) === id,
    );
  return {
    canReserve,
    reserve: (wanted: readonly Wanted<T>[]): void => {
      for (const { key, value } of wanted) put(value.id, key, value);
    },
    idOf: (key: string, value: T): number => {
      const known = ids.get(key);
      if (known !== undefined) return known;
      const isOwnFree = value.id >= leastId && value.id <= maxId && !values.has(value.id);
      return put(isOwnFree ? value.id : takeFree(), key, value);
    },
    at: (id: number): T => values.get(id)!.value,
  };
}

function keyOfSchema({ name, encoding, data }: Schema): string {
  return JSON.stringify([name, encoding, createHash("sha256").update(data).digest("base64")]);
}

function keyOfChannel({ schemaId, topic, messageEncoding, metadata }: Channel): string {
  return JSON.stringify([schemaId, topic, messageEncoding, Object.entries(metadata).sort()]);
}
