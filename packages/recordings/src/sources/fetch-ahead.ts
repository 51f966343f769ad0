import { type BlockMemory, blockMemory } from "../memory/block-memory.ts";
import { type LargeMemory, largeMemory } from "../memory/large-memory.ts";
import type { FetchedBlock, StreamRange } from "./fetched-block.ts";
import { FetchedTrack, type FetchLimits } from "./fetched-track.ts";
import { isInside, type RandomAccessSource, type SourceRange } from "./source.ts";

/** A source for which each request takes a while before its first byte, such as an object in a bucket. */
export interface DistantSource {
  readonly sizeBytes: number;
  read(offset: number, length: number): Promise<Uint8Array>;
  /** The memory of the pieces is the consumer's. */
  stream(range: { start: number; endInclusive: number }, signal: AbortSignal): AsyncIterable<Uint8Array>;
}

interface Options {
  readonly memory?: LargeMemory;
  readonly blocks?: BlockMemory;
  readonly limits?: Partial<FetchLimits>;
}

/**
 * The same source, in which whatever was announced is fetched ahead: neighbours by one request, several requests at a time, in what is free
 * of the memory that all share. Disposing it ends what is under way.
 */
export function fetchAhead(
  distant: DistantSource,
  { memory = largeMemory, blocks = blockMemory, limits: given }: Options = {},
): RandomAccessSource & Disposable {
  const { sizeBytes } = distant;
  const limits = { ...defaultLimits, ...given };
  const stream: StreamRange = ({ start, end }, signal) => distant.stream({ start, endInclusive: end - 1 }, signal);
  const tracks = new Set<FetchedTrack>();
  const advance = (): void => {
    for (const track of tracks) {
      track.advance();
      if (track.isOver) tracks.delete(track);
    }
  };
  return {
    sizeBytes,
    async read(offset, length) {
      const range = { start: offset, end: offset + length };
      for (const track of tracks) track.skip(range);
      advance();
      const isAhead = [...tracks].some((track) => track.reaches(range)) && isInside(offset, length, sizeBytes);
      if (!isAhead) return await distant.read(offset, length);
      const bytes = new Uint8Array(Buffer.allocUnsafeSlow(length).buffer);
      await Promise.all(partsOf(range, tracks).map((part) => readPart(part, { bytes, offset, distant })));
      advance();
      return bytes;
    },
    expect(ranges) {
      const track = new FetchedTrack(ranges, { stream, limits, memory, blocks });
      tracks.add(track);
      return {
        [Symbol.dispose]() {
          tracks.delete(track);
          track[Symbol.dispose]();
        },
      };
    },
    [Symbol.dispose]() {
      for (const track of tracks) track[Symbol.dispose]();
      tracks.clear();
    },
  };
}

/** A part of what is read, and the block that holds it, if one does. */
interface Part extends SourceRange {
  readonly block: FetchedBlock | undefined;
}

function partsOf({ start, end }: SourceRange, tracks: ReadonlySet<FetchedTrack>): Part[] {
  const parts: Part[] = [];
  for (let at = start; at < end; at = parts.at(-1)!.end) {
    const block = tracks
      .values()
      .map((track) => track.find(at))
      .find((found) => found !== undefined);
    const gapEnd = tracks.values().reduce((next, track) => track.nextStart(at, next), end);
    parts.push({ start: at, end: block ? Math.min(block.end, end) : gapEnd, block });
  }
  return parts;
}

interface Reading {
  readonly bytes: Uint8Array;
  readonly offset: number;
  readonly distant: DistantSource;
}

async function readPart({ start, end, block }: Part, { bytes, offset, distant }: Reading): Promise<void> {
  const target = bytes.subarray(start - offset, end - offset);
  if (block) await block.readInto(target, start);
  else target.set(await distant.read(start, end - start));
}

const MIB = 1024 * 1024;
const defaultLimits: FetchLimits = {
  blockBytes: 8 * MIB,
  gapBytes: 256 * 1024,
  aheadBytes: 24 * MIB,
  aheadBlocks: 8,
};
