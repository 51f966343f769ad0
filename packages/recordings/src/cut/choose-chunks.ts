// A finished MCAP file of 10 GB names in its summary where each chunk is, when its messages are, and of which channels. A cut reads those
// chunks and no others: they are put together, with the summary's schemas and channels before them, as a small file that was never written.

import { McapRecordBuilder } from "@mcap/core";
import { RecordingError } from "../faults/reasons.ts";
import { readBySummary } from "../mcap/inspect-mcap.ts";
import { magic, RECORD_HEAD_BYTES } from "../mcap/opcodes.ts";
import { parseRecordHead } from "../mcap/record-head.ts";
import type { ChunkIndex } from "../mcap/records.ts";
import type { SummarySection } from "../mcap/summary-section.ts";
import { createReadContext } from "../reading/read-context.ts";
import { joinPieces, type Piece } from "../sources/joined-source.ts";
import type { RandomAccessSource } from "../sources/source.ts";

export interface CutSelection {
  /** Topic names; absent: all topics. */
  readonly topics?: readonly string[] | undefined;
  /** First and last log time, both inclusive. */
  readonly startNs: bigint;
  readonly endNs: bigint;
}

/**
 * Returns a view of a recording that holds only the chunks of a selection; undefined where the summary does not name all messages by their
 * chunks, so that the whole file must be read.
 */
export async function chooseChunks(
  source: RandomAccessSource,
  selection: CutSelection,
  signal: AbortSignal | undefined,
): Promise<RandomAccessSource | undefined> {
  const section = await readChunkSection(source, signal);
  if (!section) return undefined;
  const isWanted = createChunkFilter(section, selection);
  const chunks = [...section.chunks!.inOrder()].filter(isWanted);
  const pieces = [await headOf(source), definitionsOf(section), ...toPieces(source, [...chunks, ...section.metadata])];
  return joinPieces([...pieces, endOfFile()]);
}

/** Reads the summary of an MCAP file; undefined where it does not name all messages by their chunks. */
export async function readChunkSection(
  source: RandomAccessSource,
  signal: AbortSignal | undefined,
): Promise<SummarySection | undefined> {
  const context = createReadContext(source, { signal });
  try {
    const { section, indexed } = await readBySummary(context, { wantsChunks: true });
    return section?.chunks && indexed && !indexed.hasLooseMessages ? section : undefined;
  } catch (error) {
    if (error instanceof RecordingError) return undefined;
    throw error;
  }
}

/** A chunk whose channels are not indexed may hold any of them. */
function createChunkFilter({ channels }: SummarySection, { topics, startNs, endNs }: CutSelection) {
  const named = topics && new Set(topics);
  const ids = named && new Set(channels.filter(({ topic }) => named.has(topic)).map(({ id }) => id));
  return (chunk: ChunkIndex): boolean => {
    const isInTime = chunk.endNs >= startNs && chunk.startNs <= endNs;
    const hasTopic = !ids || chunk.channelIds.length === 0 || chunk.channelIds.some((id) => ids.has(id));
    return isInTime && hasTopic && chunk.uncompressedBytes > 0;
  };
}

/** Reads the magic and the header, with the profile. */
async function headOf(source: RandomAccessSource): Promise<Uint8Array> {
  const at = magic.byteLength;
  const { end } = parseRecordHead(await source.read(at, RECORD_HEAD_BYTES), at, source.sizeBytes);
  return source.read(0, end);
}

/** A chunk in the middle of a file need not repeat what stands before it. */
function definitionsOf({ schemas, channels }: SummarySection): Uint8Array {
  const builder = new McapRecordBuilder();
  for (const schema of schemas) builder.writeSchema(schema);
  for (const channel of channels)
    builder.writeChannel({ ...channel, metadata: new Map(Object.entries(channel.metadata)) });
  return builder.buffer;
}

/** Neighbours become one piece, so that a read over both is one read of the file. */
export function toPieces(
  source: RandomAccessSource,
  records: readonly { offset: number; lengthBytes: number }[],
): Piece[] {
  const pieces: { source: RandomAccessSource; offset: number; length: number }[] = [];
  for (const { offset, lengthBytes } of records) {
    const last = pieces.at(-1);
    if (last && last.offset + last.length === offset) last.length += lengthBytes;
    else pieces.push({ source, offset, length: lengthBytes });
  }
  return pieces;
}

/** There is no summary, so that nothing is believed that it says. */
function endOfFile(): Uint8Array {
  const builder = new McapRecordBuilder();
  builder.writeDataEnd({ dataSectionCrc: 0 });
  builder.writeFooter({ summaryStart: 0n, summaryOffsetStart: 0n, summaryCrc: 0 });
  builder.writeMagic();
  return builder.buffer;
}
