import { createHash } from "node:crypto";

/** A schema by all that it says. */
export interface SchemaContent {
  readonly name: string;
  readonly encoding: string;
  readonly data: Uint8Array;
  /** See `Schema`. */
  readonly sha256?: string;
}

/** A channel by all that it says. */
export interface ChannelContent {
  readonly schemaId: number;
  readonly topic: string;
  readonly messageEncoding: string;
  readonly metadata: Record<string, string>;
}

/** The hash of the data, also if the data are not held. */
export function sha256OfSchema({ data, sha256 }: SchemaContent): string {
  return sha256 ?? createHash("sha256").update(data).digest("hex");
}

export function areSameSchema(a: SchemaContent, b: SchemaContent): boolean {
  if (a.name !== b.name || a.encoding !== b.encoding) return false;
  return areSameData(a, b);
}

function areSameData(a: SchemaContent, b: SchemaContent): boolean {
  return a.sha256 === undefined ? Buffer.compare(a.data, b.data) === 0 : a.sha256 === sha256OfSchema(b);
}

export function areSameChannel(a: ChannelContent, b: ChannelContent): boolean {
  if (a.schemaId !== b.schemaId || a.topic !== b.topic || a.messageEncoding !== b.messageEncoding) return false;
  return areSameMaps(a.metadata, b.metadata);
}

function areSameMaps(a: Record<string, string>, b: Record<string, string>): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}

/** Whether one may be the other with some bytes damaged: most of what they say is the same, or one of them is no text any more. */
export function areAlikeSchemas(a: SchemaContent, b: SchemaContent): boolean {
  const alike = [areNear(a.name, b.name), areNear(a.encoding, b.encoding), areSameData(a, b)];
  return alike.filter(Boolean).length >= 2 || isGarbled(a.name, a.encoding) || isGarbled(b.name, b.encoding);
}

export function areAlikeChannels(a: ChannelContent, b: ChannelContent): boolean {
  const texts = [areNear(a.topic, b.topic), areNear(a.messageEncoding, b.messageEncoding)];
  const alike = [...texts, a.schemaId === b.schemaId, areSameMaps(a.metadata, b.metadata)];
  const isAnyGarbled = isGarbled(a.topic, a.messageEncoding) || isGarbled(b.topic, b.messageEncoding);
  return alike.filter(Boolean).length >= 3 || isAnyGarbled;
}

/** Whether texts differ in one or two characters. */
function areNear(a: string, b: string): boolean {
  if (a.length !== b.length) return false;
  return Array.from(a, (_, index) => a[index] === b[index]).filter((isSame) => !isSame).length <= 2;
}

/** Whether texts hold what no recorder writes into a name: control characters, or bytes that are no UTF-8. */
function isGarbled(...texts: readonly string[]): boolean {
  return texts.some((text) => /[\p{Cc}\ufffd]/u.test(text));
}

export function keyOfSchema(schema: SchemaContent): string {
  return JSON.stringify([schema.name, schema.encoding, sha256OfSchema(schema)]);
}

export function keyOfChannel({ schemaId, topic, messageEncoding, metadata }: ChannelContent): string {
  return JSON.stringify([schemaId, topic, messageEncoding, Object.entries(metadata)]);
}
