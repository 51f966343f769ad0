import { crc32 } from "node:zlib";
import type { AttachmentSummary, MetadataRecord } from "../survey/summary.ts";
import type { Channel, Schema, Survey, Tally } from "../survey/survey.ts";
import type { AttachmentLine, ChannelLine, DamageLine, ListName, MetadataLine, SchemaLine } from "./index-layout.ts";

/** Where the data of schemas stand in the file, for those that stand outside of compressed chunks. */
export type SchemaPlaces = ReadonlyMap<Schema, readonly [offset: number, lengthBytes: number]>;

interface Listed {
  readonly survey: Survey;
  readonly schemaPlaces: SchemaPlaces;
  readonly damage: readonly DamageLine[];
}

/** The lists of an index; the channels in the order of their numbers in its pages. */
export function* linesOf(
  { survey, schemaPlaces, damage }: Listed,
  channelIds: readonly number[],
): Generator<[ListName, Iterable<object>]> {
  const { schemas, channels, tallies, attachments, metadata } = survey;
  yield ["channels", map(channelIds, (id) => toChannelLine(id, channels.get(id), tallies.get(id)))];
  yield ["schemas", map(schemas.values(), (schema) => toSchemaLine(schema, schemaPlaces))];
  yield ["attachments", map(attachments, toAttachmentLine)];
  yield ["metadata", map(metadata, toMetadataLine)];
  yield ["damage", damage];
}

function* map<T, U>(values: Iterable<T>, to: (value: T) => U): Generator<U> {
  for (const value of values) yield to(value);
}

/** Only the id is known of a channel that nothing introduces. A salvage leaves its messages out. */
function toChannelLine(id: number, channel: Channel | undefined, tally: Tally | undefined): Partial<ChannelLine> {
  if (!channel) return { id };
  const { schemaId, topic, messageEncoding, metadata } = channel;
  const span = { startNs: tally?.startNs?.toString(), endNs: tally?.endNs?.toString() };
  const entries = Object.entries(metadata);
  return { id, schemaId, topic, messageEncoding, metadata: entries, messageCount: tally?.messageCount ?? 0, ...span };
}

function toSchemaLine(schema: Schema, places: SchemaPlaces): SchemaLine {
  const { id, name, encoding, data } = schema;
  const at = places.get(schema);
  if (at) return { id, name, encoding, at, crc: crc32(data) };
  return { id, name, encoding, data: Buffer.from(data).toString("base64") };
}

function toAttachmentLine({ logTimeNs, createTimeNs, ...rest }: AttachmentSummary): AttachmentLine {
  return { ...rest, logTimeNs: String(logTimeNs), createTimeNs: String(createTimeNs) };
}

function toMetadataLine({ name, metadata }: MetadataRecord): MetadataLine {
  return { name, metadata: Object.entries(metadata) };
}
