import { hash } from "node:crypto";
import { McapRecordBuilder } from "@mcap/core";
import { inRounds } from "../../codecs/one-by-one.ts";
import type { Channel, Schema } from "../../survey/survey.ts";
import { ExportError } from "./export-options.ts";

export interface ChannelTables {
  readonly schemas: ReadonlyMap<number, Schema>;
  readonly channels: ReadonlyMap<number, Channel>;
}

/** The ids of the written file: what is byte-identical has one, whatever ids it had in its sources. */
export class IdTable {
  readonly #schemas: Ids<Schema>;
  readonly #channels: Ids<Channel>;
  /** Thousands of channels may share one schema of megabytes: each is hashed once. */
  readonly #schemaKeys = new WeakMap<Schema, string>();
  readonly #introduced = new IntroducedRecords();

  constructor(schemas: Ids<Schema> = new Ids("schemas", 1), channels: Ids<Channel> = new Ids("channels", 0)) {
    this.#schemas = schemas;
    this.#channels = channels;
  }

  /** Answers a table with the same ids for another file, in which nothing was introduced yet. */
  forAnotherFile(): IdTable {
    return new IdTable(this.#schemas, this.#channels);
  }

  topicOf(channelId: number): string {
    return this.#channels.at(channelId).topic;
  }

  /** Answers a text of a channel and its schema, by which they can be compared with those of another file. */
  identityOf(channelId: number): string {
    const channel = this.#channels.at(channelId);
    const isPlain = channel.schemaId === NO_SCHEMA;
    const schemaKey = isPlain ? "" : this.#keyOfSchema(this.#schemas.at(channel.schemaId));
    return JSON.stringify([channelId, keyOfChannel(channel), schemaKey]);
  }

  /** How many schemas were introduced. */
  get schemaCount(): number {
    return this.#introduced.schemaIds.size;
  }

  get channelCount(): number {
    return this.#introduced.channelIds.size;
  }

  /**
   * Reserves the ids that a source uses itself, for all that it defines. If one is taken, it reserves nothing and answers false. It works
   * in turns of some milliseconds, and must be awaited before anything else is called.
   */
  async reserve(tables: ChannelTables): Promise<boolean> {
    const schemas: Wanted<Schema>[] = [];
    const channels: Wanted<Channel>[] = [];
    for await (const schema of inRounds(tables.schemas.values()))
      schemas.push({ key: this.#keyOfSchema(schema), value: schema });
    for await (const channel of inRounds(tables.channels.values()))
      channels.push({ key: keyOfChannel(channel), value: channel });
    if (!(await this.#schemas.canReserve(schemas)) || !(await this.#channels.canReserve(channels))) return false;
    await this.#schemas.reserve(schemas);
    await this.#channels.reserve(channels);
    return true;
  }

  /** Answers the id of a channel, which is its own if that is free. */
  idOf(channel: Channel, schema: Schema | undefined): number {
    const schemaId = schema ? this.#schemas.idOf(this.#keyOfSchema(schema), schema) : NO_SCHEMA;
    const renamed = { ...channel, schemaId };
    return this.#channels.idOf(keyOfChannel(renamed), renamed);
  }

  /**
   * Answers the records of those channels, and of their schemas, that were not written yet. They must stand before the first messages of
   * these channels.
   */
  introduce(channelIds: readonly number[]): Uint8Array {
    for (const channelId of channelIds) {
      if (this.#introduced.channelIds.has(channelId)) continue;
      const channel = this.#channels.at(channelId);
      const { schemaId } = channel;
      const isNewSchema = schemaId !== NO_SCHEMA && !this.#introduced.schemaIds.has(schemaId);
      if (isNewSchema) this.#introduced.addSchema({ ...this.#schemas.at(schemaId), id: schemaId });
      this.#introduced.addChannel({ ...channel, id: channelId });
    }
    return this.#introduced.takeNew();
  }

  /** The records of all schemas that were introduced, for the summary. */
  encodeSchemas(): Uint8Array {
    return this.#introduced.encodeSchemas();
  }

  encodeChannels(): Uint8Array {
    return this.#introduced.encodeChannels();
  }

  #keyOfSchema(schema: Schema): string {
    const key = this.#schemaKeys.get(schema) ?? keyOfSchema(schema);
    this.#schemaKeys.set(schema, key);
    return key;
  }
}

/** The records of schemas and channels that stand in the written file. */
class IntroducedRecords {
  readonly schemaIds = new Set<number>();
  readonly channelIds = new Set<number>();
  readonly #newSchemas = new McapRecordBuilder();
  readonly #newChannels = new McapRecordBuilder();
  readonly #schemas: Uint8Array[] = [];
  readonly #channels: Uint8Array[] = [];

  addSchema(schema: Schema): void {
    this.schemaIds.add(schema.id);
    this.#newSchemas.writeSchema(schema);
  }

  addChannel(channel: Channel): void {
    this.channelIds.add(channel.id);
    this.#newChannels.writeChannel({ ...channel, metadata: new Map(Object.entries(channel.metadata)) });
  }

  /** Answers what was added since the last call, schemas before channels. */
  takeNew(): Uint8Array {
    return Buffer.concat([
      takeRecords(this.#newSchemas, this.#schemas),
      takeRecords(this.#newChannels, this.#channels),
    ]);
  }

  encodeSchemas(): Uint8Array {
    return Buffer.concat(this.#schemas);
  }

  encodeChannels(): Uint8Array {
    return Buffer.concat(this.#channels);
  }
}

function takeRecords(builder: McapRecordBuilder, written: Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(builder.buffer);
  builder.reset();
  if (bytes.byteLength > 0) written.push(bytes);
  return bytes;
}

/** Schema id 0 means that a channel has no schema. A channel may have the id 0. spec: MCAP "Channel" */
const NO_SCHEMA = 0;
/** Ids are 16 bits wide. */
const MAX_ID = 65_535;

/** Something with its key. Two with the same key are the same. */
interface Wanted<T> {
  readonly key: string;
  readonly value: T;
}

/** Gives one id to each key. */
class Ids<T extends { id: number }> {
  readonly #what: string;
  readonly #leastId: number;
  readonly #ids = new Map<string, number>();
  readonly #values = new Map<number, Wanted<T>>();
  #lowestFree: number;

  constructor(what: string, leastId: number) {
    this.#what = what;
    this.#leastId = leastId;
    this.#lowestFree = leastId;
  }

  /** Whether no id belongs to something else and nothing has another id already, also among what is wanted. */
  async canReserve(wanted: readonly Wanted<T>[]): Promise<boolean> {
    const keys = new Set<string>();
    for await (const { key, value } of inRounds(wanted)) {
      // A text with a replaced character is not what stands in the chunks.
      if (!this.#isFree(value.id, key) || keys.has(key) || key.includes("\ufffd")) return false;
      keys.add(key);
    }
    return true;
  }

  async reserve(wanted: readonly Wanted<T>[]): Promise<void> {
    for await (const { key, value } of inRounds(wanted)) this.#put(value.id, key, value);
  }

  idOf(key: string, value: T): number {
    const known = this.#ids.get(key);
    if (known !== undefined) return known;
    const isOwnFree = this.#isInRange(value.id) && !this.#values.has(value.id);
    return this.#put(isOwnFree ? value.id : this.#takeFree(), key, value);
  }

  at(id: number): T {
    return this.#values.get(id)!.value;
  }

  #isFree(id: number, key: string): boolean {
    return this.#isInRange(id) && (this.#values.get(id)?.key ?? key) === key && (this.#ids.get(key) ?? id) === id;
  }

  #isInRange(id: number): boolean {
    return id >= this.#leastId && id <= MAX_ID;
  }

  #put(id: number, key: string, value: T): number {
    this.#ids.set(key, id);
    this.#values.set(id, { key, value });
    return id;
  }

  #takeFree(): number {
    while (this.#values.has(this.#lowestFree)) this.#lowestFree += 1;
    if (this.#lowestFree <= MAX_ID) return this.#lowestFree;
    const most = MAX_ID + 1 - this.#leastId;
    throw new ExportError("TooManyChannels", `one MCAP file holds at most ${most} ${this.#what}`);
  }
}

function keyOfSchema({ name, encoding, data }: Schema): string {
  return JSON.stringify([name, encoding, hash("sha256", data, "base64")]);
}

function keyOfChannel({ schemaId, topic, messageEncoding, metadata }: Channel): string {
  return JSON.stringify([schemaId, topic, messageEncoding, Object.entries(metadata).sort()]);
}
