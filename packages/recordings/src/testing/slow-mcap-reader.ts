import { crc32 } from "node:zlib";
import { type OddMessage, textOf } from "./odd-mcap.ts";
import { slowDecompress } from "./slow-decompress.ts";

export interface SlowReading {
  /** The messages that nothing refutes, in the order of the file. One is not sound if its time does not fit into signed 64 bits. */
  readonly messages: OddMessage[];
  readonly damage: SlowDamage[];
}

export interface SlowDamage {
  /** The place in the file. */
  readonly offset: number;
  readonly text: string;
  /** True if messages are lost or in doubt, so that giving the file as whole is wrong. */
  readonly isGrave: boolean;
}

/**
 * Reads all messages of an MCAP file straight forward from its first record to its footer, with every chunk decompressed and held whole. It
 * believes no index, no statistics and no time in a chunk's head, and shares nothing with the reader that is tested with it. Spec: MCAP
 * "Records".
 */
export function readSlowly(bytes: Uint8Array): SlowReading {
  const state = createState(bytes);
  if (!hasMagic(bytes, 0) || !hasMagic(bytes, bytes.byteLength - 8)) {
    note(state, { offset: 0, text: "the file does not begin or end as an MCAP file" });
  }
  walkFile(state);
  return { messages: state.found.flatMap((found) => resolve(found, state)), damage: state.damage };
}

export const DEFINED_TWICE = "an id is defined twice, differently";
/** Spec: MCAP "Records": 0 is no opcode, so that another reader may take what stands there for bytes that were never written. */
export const NO_TYPE = "a record has the type 0";

interface State {
  readonly bytes: Uint8Array;
  readonly found: FoundMessage[];
  readonly schemas: Map<number, FoundSchema>;
  readonly channels: Map<number, FoundChannel>;
  readonly damage: SlowDamage[];
  /** True if the data section is over, and what comes should be the summary. */
  isBehindData: boolean;
  hasUnchecked: boolean;
}

interface FoundMessage {
  readonly offset: number;
  readonly channelId: number;
  readonly fields: Pick<OddMessage, "sequence" | "logTimeNs" | "publishTimeNs" | "data">;
}

interface FoundSchema {
  readonly id: number;
  readonly name: string;
  /** All of the record. Two records with different keys contradict each other. */
  readonly key: string;
}

interface FoundChannel {
  readonly id: number;
  readonly schemaId: number;
  readonly topic: string;
  readonly messageEncoding: string;
  readonly key: string;
}

function createState(bytes: Uint8Array): State {
  const maps = { schemas: new Map(), channels: new Map() };
  return { bytes, found: [], ...maps, damage: [], isBehindData: false, hasUnchecked: false };
}

function note(state: State, { isGrave = true, ...place }: Omit<SlowDamage, "isGrave"> & Partial<SlowDamage>): void {
  state.damage.push({ ...place, isGrave });
}

/** A record outside of chunks, or in one. */
interface RawRecord {
  readonly opcode: number;
  readonly offset: number;
  readonly content: Uint8Array;
}

function walkFile(state: State): void {
  const end = state.bytes.byteLength - 8;
  let at = 8;
  while (true) {
    const record = cutRecord(state.bytes.subarray(0, Math.max(0, end)), at);
    if (!record) {
      note(state, { offset: at, text: "a record is not whole", isGrave: !state.isBehindData });
      return;
    }
    at += 9 + record.content.byteLength;
    if (record.opcode === opcodes.footer) {
      if (at !== end) note(state, { offset: record.offset, text: "the footer is not at the end" });
      return;
    }
    try {
      readRecord(record, state);
    } catch (error) {
      note(state, {
        offset: record.offset,
        text: messageOf(error),
        isGrave: !state.isBehindData || holdsMessages(record),
      });
    }
  }
}

function holdsMessages({ opcode }: RawRecord): boolean {
  return opcode === opcodes.message || opcode === opcodes.chunk;
}

function cutRecord(bytes: Uint8Array, offset: number): RawRecord | undefined {
  if (offset + 9 > bytes.byteLength) return undefined;
  const length = viewOf(bytes).getBigUint64(offset + 1, true);
  if (length > BigInt(bytes.byteLength - offset - 9)) return undefined;
  const content = bytes.subarray(offset + 9, offset + 9 + Number(length));
  return { opcode: bytes[offset]!, offset, content };
}

function readRecord(record: RawRecord, state: State): void {
  const { opcode, offset, content } = record;
  noteType(record, state, offset);
  if (opcode === opcodes.schema) define(state.schemas, toSchema(content), { state, offset });
  if (opcode === opcodes.channel) define(state.channels, toChannel(content), { state, offset });
  if (opcode === opcodes.chunk) readChunk(record, state);
  if (opcode === opcodes.attachment) checkAttachment(record, state);
  if (opcode === opcodes.dataEnd) checkDataEnd(record, state);
  if (opcode === opcodes.message) {
    state.found.push(toMessage(content, offset));
    state.hasUnchecked = true;
  }
}

/** The records of a chunk count as a whole or not at all. */
function readChunk({ content, offset }: RawRecord, state: State): void {
  const fields = openFields(content);
  fields.skip(16);
  const uncompressedBytes = fields.u64();
  const crc = fields.u32();
  const compression = fields.text();
  const stored = fields.take(Number(fields.u64()));
  const { bytes, restBytes } = slowDecompress(compression, stored);
  if (crc !== 0 && crc32(bytes) !== crc) throw new Error("a chunk fails its checksum");
  const inside: State = { ...state, found: [] };
  const [schemas, channels] = [new Map(state.schemas), new Map(state.channels)];
  for (const record of cutRecords(bytes)) {
    noteType(record, state, offset);
    if (record.opcode === opcodes.schema) define(schemas, toSchema(record.content), { state, offset });
    if (record.opcode === opcodes.channel) define(channels, toChannel(record.content), { state, offset });
    if (record.opcode === opcodes.message) inside.found.push(toMessage(record.content, offset));
  }
  Object.assign(state, { schemas, channels });
  for (const message of inside.found) state.found.push(message);
  if (crc === 0 && inside.found.length > 0) state.hasUnchecked = true;
  if (restBytes > 0) note(state, { offset, text: "rubbish stands behind a frame", isGrave: false });
  if (BigInt(bytes.byteLength) !== uncompressedBytes)
    note(state, { offset, text: "a chunk has another size", isGrave: false });
}

function noteType({ opcode }: RawRecord, state: State, offset: number): void {
  if (opcode === 0) note(state, { offset, text: NO_TYPE, isGrave: false });
}

function cutRecords(bytes: Uint8Array): RawRecord[] {
  const records: RawRecord[] = [];
  for (let at = 0; at < bytes.byteLength; ) {
    const record = cutRecord(bytes, at);
    if (!record) throw new Error("a record in a chunk is not whole");
    records.push(record);
    at += 9 + record.content.byteLength;
  }
  return records;
}

/** Notes a definition. The first of two that contradict each other counts. In the summary definitions are only repeated. */
function define<T extends { id: number; key: string }>(
  known: Map<number, T>,
  definition: T,
  { state, offset }: { state: State; offset: number },
): void {
  const first = known.get(definition.id);
  if (!first) known.set(definition.id, definition);
  else if (first.key !== definition.key) note(state, { offset, text: DEFINED_TWICE, isGrave: !state.isBehindData });
}

function toSchema(content: Uint8Array): FoundSchema {
  const fields = openFields(content);
  const id = fields.u16();
  const [name, encoding] = [fields.text(), fields.text()];
  const data = fields.take(fields.u32());
  // Spec: MCAP "Schema": one with the id 0 is ignored.
  const key = id === 0 ? "" : JSON.stringify([name, encoding, Buffer.from(data).toString("hex")]);
  return { id, name: id === 0 ? "" : name, key };
}

function toChannel(content: Uint8Array): FoundChannel {
  const fields = openFields(content);
  const [id, schemaId] = [fields.u16(), fields.u16()];
  const [topic, messageEncoding] = [fields.text(), fields.text()];
  const metadata = fields.textPairs();
  const key = JSON.stringify([schemaId, topic, messageEncoding, Object.entries(Object.fromEntries(metadata)).sort()]);
  return { id, schemaId, topic, messageEncoding, key };
}

function toMessage(content: Uint8Array, offset: number): FoundMessage {
  const fields = openFields(content);
  const [channelId, sequence, logTimeNs, publishTimeNs] = [fields.u16(), fields.u32(), fields.u64(), fields.u64()];
  return { offset, channelId, fields: { sequence, logTimeNs, publishTimeNs, data: content.subarray(22) } };
}

function checkAttachment({ content, offset }: RawRecord, state: State): void {
  const fields = openFields(content);
  fields.skip(16);
  fields.text();
  fields.text();
  fields.skip(Number(fields.u64()));
  const covered = content.subarray(0, fields.at());
  const crc = fields.u32();
  if (crc !== 0 && crc32(covered) !== crc)
    note(state, { offset, text: "an attachment fails its checksum", isGrave: false });
}

function checkDataEnd({ content, offset }: RawRecord, state: State): void {
  const crc = openFields(content).u32();
  state.isBehindData = true;
  if (crc === 0) return;
  // Another end of the data may stand in the summary: it says nothing about messages that the first has confirmed.
  if (crc32(state.bytes.subarray(0, offset)) === crc) state.hasUnchecked = false;
  else note(state, { offset, text: "the data section fails its checksum", isGrave: state.hasUnchecked });
}

function resolve({ offset, channelId, fields }: FoundMessage, state: State): OddMessage[] {
  const channel = state.channels.get(channelId);
  if (!channel) note(state, { offset, text: `a message of channel ${channelId}, which is not in the file` });
  if (!channel) return [];
  // Such messages are given and reported, so that they count, though not as sound ones.
  const isSound = fields.logTimeNs < 2n ** 63n;
  if (!isSound) note(state, { offset, text: "a message of a time that does not fit into signed 64 bits" });
  const { topic, messageEncoding, schemaId } = channel;
  const schemaName = schemaId === 0 ? "" : (state.schemas.get(schemaId)?.name ?? "");
  return [{ topic, messageEncoding, schemaName, ...fields, isSound }];
}

const opcodes = {
  footer: 0x02,
  schema: 0x03,
  channel: 0x04,
  message: 0x05,
  chunk: 0x06,
  attachment: 0x09,
  dataEnd: 0x0f,
} as const;

function openFields(content: Uint8Array) {
  const view = viewOf(content);
  let position = 0;
  const move = (length: number): number => {
    const from = position;
    if (from + length > content.byteLength) throw new Error("a record ends in the middle of a field");
    position += length;
    return from;
  };
  const u32 = (): number => view.getUint32(move(4), true);
  const take = (length: number): Uint8Array => {
    const from = move(length);
    return content.subarray(from, from + length);
  };
  const text = (): string => textOf(take(u32()));
  return {
    at: () => position,
    skip: (length: number): number => move(length),
    u16: (): number => view.getUint16(move(2), true),
    u32,
    u64: (): bigint => view.getBigUint64(move(8), true),
    take,
    text,
    textPairs(): [string, string][] {
      const end = u32() + position;
      const pairs: [string, string][] = [];
      while (position < end) pairs.push([text(), text()]);
      if (position !== end) throw new Error("a map does not end where it says");
      return pairs;
    },
  };
}

function hasMagic(bytes: Uint8Array, at: number): boolean {
  const magic = [0x89, 0x4d, 0x43, 0x41, 0x50, 0x30, 0x0d, 0x0a];
  return at >= 0 && magic.every((byte, index) => bytes[at + index] === byte);
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
