import { createHash } from "node:crypto";
import { McapRecordBuilder } from "@mcap/core";
import { RecordingFault } from "../reasons.ts";
import type { Channel, Schema } from "../survey.ts";

/** Gives out the ids of the written file: what is byte-identical gets one id, whatever ids it had. */
export interface IdTable {
  /** The id of a channel. What is new of channel and schema is written to `chunk`, where its first message follows. */
  introduce(channel: Channel, schema: Schema | undefined, chunk: McapRecordBuilder): number;
  encodeSchemas(): Uint8Array;
  encodeChannels(): Uint8Array;
  readonly schemaCount: number;
  readonly channelCount: number;
}

export function createIdTable(): IdTable {
  const schemaIds = new Map<string, number>();
  const channelIds = new Map<string, number>();
  const schemas = new McapRecordBuilder();
  const channels = new McapRecordBuilder();

  const introduceSchema = (schema: Schema, chunk: McapRecordBuilder): number => {
    const { id, isNew } = idOf(keyOfSchema(schema), schemaIds);
    if (isNew) for (const builder of [schemas, chunk]) builder.writeSchema({ ...schema, id });
    return id;
  };
  const introduce: IdTable["introduce"] = (channel, schema, chunk) => {
    const schemaId = schema ? introduceSchema(schema, chunk) : 0;
    const { topic, messageEncoding } = channel;
    const metadata = new Map(Object.entries(channel.metadata));
    const key = JSON.stringify([schemaId, topic, messageEncoding, [...metadata].sort()]);
    const { id, isNew } = idOf(key, channelIds);
    if (isNew)
      for (const builder of [channels, chunk]) builder.writeChannel({ id, schemaId, topic, messageEncoding, metadata });
    return id;
  };

  return {
    introduce,
    encodeSchemas: () => schemas.buffer,
    encodeChannels: () => channels.buffer,
    get schemaCount() {
      return schemaIds.size;
    },
    get channelCount() {
      return channelIds.size;
    },
  };
}

/** spec: ids are 16 bits wide, and schema id 0 means "none". */
const maxId = 65_535;

function idOf(key: string, ids: Map<string, number>): { id: number; isNew: boolean } {
  const known = ids.get(key);
  if (known !== undefined) return { id: known, isNew: false };
  const id = ids.size + 1;
  if (id > maxId)
    throw new RecordingFault("TooManyChannels", `an MCAP file holds at most ${maxId} channels and schemas`);
  ids.set(key, id);
  return { id, isNew: true };
}

function keyOfSchema({ name, encoding, data }: Schema): string {
  return JSON.stringify([name, encoding, createHash("sha256").update(data).digest("base64")]);
}
