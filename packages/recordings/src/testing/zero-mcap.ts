import { McapRecordBuilder } from "@mcap/core";

export interface ZeroMcap {
  readonly sizeBytes: number;
  readonly chunkCount: number;
  /** The file in order, in pieces of at most a megabyte; they share their memory and are not to be changed. */
  pieces(): Generator<Uint8Array, void>;
}

/**
 * A whole MCAP of about the requested size: one message of zeros in each chunk of 16 MiB. It costs no memory, and little disk space if the
 * file system keeps holes.
 */
export function makeZeroMcap(aboutBytes: number): ZeroMcap {
  const chunkCount = Math.max(1, Math.round(aboutBytes / CHUNK_BYTES));
  const head = headOf();
  const chunkLength = startOfChunk(0).byteLength + MESSAGE_BYTES + messageIndexOf(0).byteLength;
  const dataEnd = head.byteLength + chunkCount * chunkLength;
  const tail = tailOf({ chunkCount, chunkLength, headLength: head.byteLength, dataEnd });
  return {
    sizeBytes: dataEnd + tail.byteLength,
    chunkCount,
    *pieces() {
      yield head;
      for (let chunk = 0; chunk < chunkCount; chunk += 1) {
        yield startOfChunk(chunk);
        for (let left = MESSAGE_BYTES; left > 0; left -= zeros.byteLength)
          yield zeros.subarray(0, Math.min(left, zeros.byteLength));
        yield messageIndexOf(chunk);
      }
      yield tail;
    },
  };
}

const CHUNK_BYTES = 16 * 1024 * 1024;
const MESSAGE_HEAD_BYTES = 9 + 22;
const MESSAGE_BYTES = CHUNK_BYTES - MESSAGE_HEAD_BYTES;
const zeros = new Uint8Array(1024 * 1024);

/** One message a second. */
function timeOf(chunk: number): bigint {
  return 1_767_323_045_000_000_000n + BigInt(chunk) * 1_000_000_000n;
}

function build(write: (builder: McapRecordBuilder) => void): Uint8Array {
  const builder = new McapRecordBuilder();
  write(builder);
  return builder.buffer;
}

function writeChannel(builder: McapRecordBuilder): void {
  builder.writeSchema({ id: 1, name: "Zeros", encoding: "jsonschema", data: Buffer.from("{}") });
  builder.writeChannel({ id: 1, schemaId: 1, topic: "/zeros", messageEncoding: "", metadata: new Map() });
}

function headOf(): Uint8Array {
  return build((builder) => {
    builder.writeMagic();
    builder.writeHeader({ profile: "", library: "zeros" });
    writeChannel(builder);
  });
}

/** A chunk up to its message's data. */
function startOfChunk(chunk: number): Uint8Array {
  const time = timeOf(chunk);
  const span = { messageStartTime: time, messageEndTime: time };
  const empty = build((builder) => {
    builder.writeChunk({
      ...span,
      uncompressedSize: BigInt(CHUNK_BYTES),
      uncompressedCrc: 0,
      compression: "",
      records: new Uint8Array(0),
    });
    const message = { channelId: 1, sequence: chunk, logTime: time, publishTime: time, data: new Uint8Array(0) };
    builder.writeMessage(message);
  });
  const bytes = Buffer.from(empty);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const messageAt = bytes.byteLength - MESSAGE_HEAD_BYTES;
  view.setBigUint64(1, view.getBigUint64(1, true) + BigInt(CHUNK_BYTES), true);
  view.setBigUint64(messageAt - 8, BigInt(CHUNK_BYTES), true);
  view.setBigUint64(messageAt + 1, BigInt(22 + MESSAGE_BYTES), true);
  return bytes;
}

function messageIndexOf(chunk: number): Uint8Array {
  return build((builder) => builder.writeMessageIndex({ channelId: 1, records: [[timeOf(chunk), 0n]] }));
}

interface Layout {
  readonly chunkCount: number;
  readonly chunkLength: number;
  readonly headLength: number;
  readonly dataEnd: number;
}

function tailOf({ chunkCount, chunkLength, headLength, dataEnd }: Layout): Uint8Array {
  return build((builder) => {
    builder.writeDataEnd({ dataSectionCrc: 0 });
    const summaryStart = BigInt(dataEnd + builder.length);
    writeChannel(builder);
    builder.writeStatistics({
      messageCount: BigInt(chunkCount),
      schemaCount: 1,
      channelCount: 1,
      attachmentCount: 0,
      metadataCount: 0,
      chunkCount,
      messageStartTime: timeOf(0),
      messageEndTime: timeOf(chunkCount - 1),
      channelMessageCounts: new Map([[1, BigInt(chunkCount)]]),
    });
    const indexLength = messageIndexOf(0).byteLength;
    for (let chunk = 0; chunk < chunkCount; chunk += 1) {
      const start = headLength + chunk * chunkLength;
      builder.writeChunkIndex({
        messageStartTime: timeOf(chunk),
        messageEndTime: timeOf(chunk),
        chunkStartOffset: BigInt(start),
        chunkLength: BigInt(chunkLength - indexLength),
        messageIndexOffsets: new Map([[1, BigInt(start + chunkLength - indexLength)]]),
        messageIndexLength: BigInt(indexLength),
        compression: "",
        compressedSize: BigInt(CHUNK_BYTES),
        uncompressedSize: BigInt(CHUNK_BYTES),
      });
    }
    builder.writeFooter({ summaryStart, summaryOffsetStart: 0n, summaryCrc: 0 });
    builder.writeMagic();
  });
}
