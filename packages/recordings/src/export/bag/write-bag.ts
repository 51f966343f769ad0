import { freeOwn } from "../../memory/free-memory.ts";
import { SourceChangedError } from "../../sources/source.ts";
import type { MetadataRecord } from "../../survey/summary.ts";
import { type BagBody, type BagCompression, createBagBody, encodeIndex, writeChunks } from "./bag-body.ts";
import {
  type BagNumbers,
  bagHeadBytes,
  beginBagHead,
  encodeFields,
  endBagHead,
  paddingBytes,
  u32,
} from "./bag-records.ts";
import type { BagBatch, BagMessage } from "./fill-chunks.ts";

/**
 * Opens the messages in order of time, equal times in the order they shall have. Called once or twice: each call must give
 * the same messages, and whatever counts them begins anew.
 */
export type MessageOpener = () => AsyncIterable<BagBatch>;

/**
 * An indexed ROS 1 bag, format 2.0, piece by piece. Its head says where the index will stand, so the chunks are made
 * twice: first to measure them, then to pass them on. If they fit into `mostHeldBytes`, they are kept and made once; it is
 * asked for each of them.
 *
 * Throws `RecordingFault` (`InvalidTime`) for a time that ROS cannot write, `SourceChangedError` when the second time
 * gave other messages. What was yielded until then is not a whole file.
 */
export async function* writeBag(
  openMessages: MessageOpener,
  compression: BagCompression,
  mostHeldBytes = (): number => defaultHeldBytes,
): AsyncGenerator<Uint8Array> {
  yield beginBagHead();
  const { measured, held, leftPaddingBytes } = yield* measureChunks(openMessages(), compression, mostHeldBytes);
  const headEnd = endBagHead(numbersOf(measured));
  yield Buffer.concat([Buffer.alloc(leftPaddingBytes, " "), headEnd]);
  if (held) {
    yield* held;
    yield encodeIndex(measured);
    return;
  }
  const written = createBagBody();
  yield* writeChunks(written, openMessages(), compression);
  if (!headEnd.equals(endBagHead(numbersOf(written)))) {
    throw new SourceChangedError("the messages for a bag were not the same when read again: their source has changed");
  }
  yield encodeIndex(written);
}

const defaultHeldBytes = 16 * 1024 * 1024;

interface Measurement {
  measured: BagBody;
  /** The chunks, if they are few. */
  held: Uint8Array[] | undefined;
  leftPaddingBytes: number;
}

/** Yields some of the head's padding now and then: proxies end a connection that is silent for a minute. */
async function* measureChunks(
  batches: AsyncIterable<BagBatch>,
  compression: BagCompression,
  mostHeldBytes: () => number,
): AsyncGenerator<Uint8Array, Measurement> {
  const measured = createBagBody();
  let held: Uint8Array[] | undefined = [];
  let leftPaddingBytes = paddingBytes;
  for await (const piece of writeChunks(measured, batches, compression)) {
    if (measured.position - bagHeadBytes > mostHeldBytes()) held = undefined;
    if (held) held.push(piece);
    else freeOwn(piece);
    const duePaddingBytes = Math.floor(measured.position / bytesPerPadding) - (paddingBytes - leftPaddingBytes);
    if (duePaddingBytes <= 0 || leftPaddingBytes === 0) continue;
    const padding = Buffer.alloc(Math.min(duePaddingBytes, leftPaddingBytes), " ");
    leftPaddingBytes -= padding.byteLength;
    yield padding;
  }
  return { measured, held, leftPaddingBytes };
}

/** The padding lasts for bags of 64 GB. */
const bytesPerPadding = 16 * 1024 * 1024;

function numbersOf({ position, connections, chunkInfos }: BagBody): BagNumbers {
  return {
    indexPosition: position,
    connectionCount: connections.records.length,
    chunkCount: chunkInfos.length,
  };
}

/** What an MCAP file tells in a metadata record, as a message of the type `std_msgs/String` that holds JSON. */
export function makeDamageMessage(record: MetadataRecord | undefined, logTimeNs: bigint): BagMessage | undefined {
  if (!record) return undefined;
  const text = Buffer.from(JSON.stringify(record.metadata));
  return { connection: damageConnection, logTimeNs, data: Buffer.concat([u32(text.byteLength), text]) };
}

const topic = Buffer.from("/downlink/export");

const damageConnection = {
  topic,
  header: encodeFields({
    topic,
    type: Buffer.from("std_msgs/String"),
    md5sum: Buffer.from("992ce8a1687cec8c8bd883ec73ca41d1"),
    message_definition: Buffer.from("string data\n"),
  }),
};
