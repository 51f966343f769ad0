import { type CoverageGrid, coverageBits, type ImportStatus } from "@downlink/protocol";

type Part = "imported" | "onItsWay" | "edgeOnly" | "failed";
type Row = Omit<CoverageGrid["devices"][number], "id" | "name">;

const parts: readonly Part[] = ["imported", "onItsWay", "edgeOnly", "failed"];

/** The number of the part of a grid that recordings of a status belong to. */
export const partNumbers: Readonly<Record<ImportStatus, number>> = {
  complete: 0,
  pending: 1,
  importing: 1,
  none: 2,
  failed: 3,
};

/**
 * The size of a packed recording, or of one of its spans: 12 bits for its first bin, 12 for the last, 1 that says that an earlier span was
 * packed as well, 2 for its part; its start and end from the window's start in ns, and its size.
 */
const RECORDING_BYTES = 28;
/** The size of a packed event: 12 bits for its first bin, 12 for the last. */
const EVENT_BYTES = 4;
const NS_PER_SECOND = 1e9;

interface Packed {
  readonly recordings: Buffer;
  readonly events: Buffer;
}

interface Bins {
  readonly bins: number;
  readonly binNs: number;
}

/** Makes a device's row of a grid from its packed recordings and events. */
export function toGridRow({ recordings, events }: Packed, { bins, binNs }: Bins): Row {
  const ends = parts.map(() => new Int32Array(bins + 1));
  const sums = parts.map(() => ({ recordings: 0, bytes: 0 }));
  for (let at = 0; at < recordings.length; at += RECORDING_BYTES) {
    const bits = recordings.readUInt32BE(at);
    noteEnds(ends[bits & 3]!, bits >>> 3);
    if (bits & 4) continue;
    const sum = sums[bits & 3]!;
    sum.recordings += 1;
    sum.bytes += recordings.readDoubleBE(at + 20);
  }
  const eventEnds = new Int32Array(bins + 1);
  for (let at = 0; at < events.length; at += EVENT_BYTES) noteEnds(eventEnds, events.readUInt32BE(at));
  const cells = Buffer.alloc(bins);
  parts.forEach((part, number) => {
    mark(cells, ends[number]!, coverageBits[part]);
  });
  mark(cells, eventEnds, coverageBits.event);
  const filled = new Float64Array(bins);
  const covered = sumCoveredSeconds(recordings, (fromNs, toNs) => fill(filled, { fromNs, toNs, binNs }));
  markFullness(cells, filled, binNs);
  const [imported, onItsWay, edgeOnly, failed] = sums.map((sum, part) => ({ ...sum, coveredSeconds: covered[part]! }));
  const shown = { imported: imported!, onItsWay: onItsWay!, edgeOnly: edgeOnly!, failed: failed! };
  return { cells: cells.toString("base64"), coveredSeconds: covered[parts.length]!, ...shown };
}

/** Notes how many begin in a bin and end before it, so that what spans thousands of bins takes no longer than what is in one. */
function noteEnds(ends: Int32Array, bins: number): void {
  ends[bins >>> 12]! += 1;
  ends[(bins & 0xfff) + 1]! -= 1;
}

function mark(cells: Buffer, ends: Int32Array, bit: number): void {
  let present = 0;
  for (let bin = 0; bin < cells.length; bin++) {
    present += ends[bin]!;
    if (present > 0) cells[bin]! |= bit;
  }
}

/** Adds a span, whose ends are inclusive, to the time of each bin that has data. */
function fill(filled: Float64Array, { fromNs, toNs, binNs }: { fromNs: number; toNs: number; binNs: number }): void {
  const last = Math.min(filled.length - 1, Math.floor(toNs / binNs));
  for (let bin = Math.floor(fromNs / binNs); bin <= last; bin++)
    filled[bin]! += Math.min(toNs + 1, (bin + 1) * binNs) - Math.max(fromNs, bin * binNs);
}

function markFullness(cells: Buffer, filled: Float64Array, binNs: number): void {
  for (const [bin, ns] of filled.entries()) {
    if (ns * 3 >= binNs) cells[bin]! |= coverageBits.third;
    if (ns * 3 >= binNs * 2) cells[bin]! |= coverageBits.twoThirds;
  }
}

/**
 * Returns the time that the recordings of each part cover together, and behind those what all of them cover. `onCovered` hears of the spans
 * that all of them cover, none of which overlap.
 */
function sumCoveredSeconds(recordings: Buffer, onCovered: (fromNs: number, toNs: number) => void): number[] {
  const covered = new Array<number>(parts.length + 1).fill(0);
  const reached = new Array<number>(parts.length + 1).fill(-1);
  for (const at of sortByStart(recordings)) {
    const [startNs, endNs] = [recordings.readDoubleBE(at + 4), recordings.readDoubleBE(at + 12)];
    for (const part of [recordings.readUInt32BE(at) & 3, parts.length]) {
      const fromNs = Math.max(startNs, reached[part]! + 1);
      if (endNs < fromNs) continue;
      covered[part]! += endNs - fromNs + 1;
      reached[part] = endNs;
      if (part === parts.length) onCovered(fromNs, endNs);
    }
  }
  return covered.map((ns) => ns / NS_PER_SECOND);
}

/** Returns where the recordings are in the buffer, by their start; nearly always they are packed in that order. */
function sortByStart(recordings: Buffer): Uint32Array {
  const places = Uint32Array.from(
    { length: recordings.length / RECORDING_BYTES },
    (_, index) => index * RECORDING_BYTES,
  );
  const startOf = (at: number) => recordings.readDoubleBE(at + 4);
  const isInOrder = places.every((at, index) => index === 0 || startOf(places[index - 1]!) <= startOf(at));
  return isInOrder ? places : places.sort((a, b) => startOf(a) - startOf(b));
}
