import { hash } from "node:crypto";
import { McapRecordBuilder } from "@mcap/core";
import { inRounds } from "../../codecs/one-by-one.ts";
import type { Channel, Schema } from "../../survey/survey.ts";
import { ExportFault } from "./export-options.ts";

/** The ids of the written file: what is byte-identical has one, whatever ids it had in its sources. */
export interface IdTable {
  /**
   * Sets aside the ids that a source uses itself, for all that it defines; false, and nothing done, where one is taken. Takes turns of
   * some milliseconds; to be awaited before anything else is asked for.
   */
  reserve(tables: ChannelTables): Promise<boolean>;
  /** The id of a channel: its own where that is free. */
  idOf(channel: Channel, schema: Schema | undefined): number;
  /** The records of those channels, and of their schemas, that were not written yet; to stand before their first messages. */
  introduce(channelIds: readonly number[]): Uint8Array;
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
  const schemaKeyOf = createSchemaKeys();
  const builders = { schemas: new McapRecordBuilder(), channels: new McapRecordBuilder() };
  const written = { schemas: [] as Uint8Array[], channels: [] as Uint8Array[] };
  const introduced = { schemas: new Set<number>([noSchema]), channels: new Set<number>() };

  const reserve: IdTable["reserve"] = async (tables) => {
    const wantedSchemas: Wanted<Schema>[] = [];
    const wantedChannels: Wanted<Channel>[] = [];
    for await (const schema of inRounds(tables.schemas.values())) {
      wantedSchemas.push({ key: schemaKeyOf(schema), value: schema });
    }
    for await (const channel of inRounds(tables.channels.values())) {
      wantedChannels.push({ key: keyOfChannel(channel), value: channel });
    }
    if (!(await schemas.canReserve(wantedSchemas)) || !(await channels.canReserve(wantedChannels))) return false;
    await schemas.reserve(wantedSchemas);
    await channels.reserve(wantedChannels);
    return true;
  };
  const idOf: IdTable["idOf"] = (channel, schema) => {
    const schemaId = schema ? schemas.idOf(schemaKeyOf(schema), schema) : noSchema;
    const renamed = { ...channel, schemaId };
    return channels.idOf(keyOfChannel(renamed), renamed);
  };
  const introduceSchema = (schemaId: number): void => {
    if (introduced.schemas.has(schemaId)) return;
    introduced.schemas.add(schemaId);
    builders.schemas.writeSchema({ ...schemas.at(schemaId), id: schemaId });
  };
  const introduce: IdTable["introduce"] = (channelIds) => {
    for (const channelId of channelIds) {
      if (introduced.channels.has(channelId)) continue;
      introduced.channels.add(channelId);
      const channel = channels.at(channelId);
      introduceSchema(channel.schemaId);
      const metadata = new Map(Object.entries(channel.metadata));
      builders.channels.writeChannel({ ...channel, id: channelId, metadata });
    }
    const records = (["schemas", "channels"] as const).map((kind) => {
      const bytes = new Uint8Array(builders[kind].buffer);
      builders[kind].reset();
      if (bytes.byteLength > 0) written[kind].push(bytes);
      return bytes;
    });
    return Buffer.concat(records);
  };

  return {
    reserve,
    idOf,
    introduce,
    encodeSchemas: () => Buffer.concat(written.schemas),
    encodeChannels: () => Buffer.concat(written.channels),
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
  const canReserve = async (wanted: readonly Wanted<T>[]): Promise<boolean> => {
    const keys = new Set<string>();
    for await (const { key, value } of inRounds(wanted)) {
      const { id } = value;
      const isFree = (values.get(id)?.key ?? key) === key && (ids.get(key) ?? id) === id;
      // A text with a replaced character is not what stands in the chunks.
      if (!isFree || id < leastId || id > maxId || keys.has(key) || key.includes("\ufffd")) return false;
      keys.add(key);
    }
    return true;
  };
  return {
    canReserve,
    reserve: async (wanted: readonly Wanted<T>[]): Promise<void> => {
      for await (const { key, value } of inRounds(wanted)) put(value.id, key, value);
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

/** Thousands of channels may share one schema of megabytes: each is hashed once. */
function createSchemaKeys(): (schema: Schema) => string {
  const known = new WeakMap<Schema, string>();
  return (schema) => {
    const key = known.get(schema) ?? keyOfSchema(schema);
    known.set(schema, key);
    return key;
  };
}

function keyOfSchema({ name, encoding, data }: Schema): string {
  return JSON.stringify([name, encoding, hash("sha256", data, "base64")]);
}

function keyOfChannel({ schemaId, topic, messageEncoding, metadata }: Channel): string {
  return JSON.stringify([schemaId, topic, messageEncoding, Object.entries(metadata).sort()]);
}
