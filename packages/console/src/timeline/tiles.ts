import { fromNs, type View } from "./view.ts";

/** A tile is an answer of the service: the cells of some rows for some bins. Its key is stable, so that panning asks only for what is new. */
export interface TileKey {
  /** A bin is 2^level nanoseconds. */
  readonly level: number;
  /** Counted from 1970, in tiles. */
  readonly index: number;
  /** Which rows, in blocks of {@link TILE_ROWS}. */
  readonly block: number;
}

export const TILE_ROWS = 64;
export const TILE_BINS = 1024;
/** About a millisecond. */
export const MIN_LEVEL = 20;
/** The service takes bins of up to 2^53 - 1 ns. */
export const MAX_LEVEL = 52;

export interface Window {
  readonly view: View;
  /** In pixels of the screen. */
  readonly widthPx: number;
  readonly firstRow: number;
  /** Exclusive. */
  readonly endRow: number;
}

/** Returns the widest bins that are no wider than a pixel. */
export function levelFor(pixelMs: number): number {
  return Math.min(Math.max(Math.floor(Math.log2(pixelMs * 1e6)), MIN_LEVEL), MAX_LEVEL);
}

/**
 * Returns the tiles that cover a window exactly: every row and time of it, and none that lies beside it. The middle of the screen comes
 * first.
 */
export function tilesFor({ view, widthPx, firstRow, endRow }: Window): TileKey[] {
  if (endRow <= firstRow || widthPx <= 0) return [];
  const level = levelFor(view.spanMs / widthPx);
  const indexes = indexesOf(view, level);
  const middle = (indexes[0]! + indexes.at(-1)!) / 2;
  const nearest = indexes.toSorted((a, b) => Math.abs(a - middle) - Math.abs(b - middle));
  const first = Math.floor(firstRow / TILE_ROWS);
  const blocks = Array.from({ length: Math.ceil(endRow / TILE_ROWS) - first }, (_, at) => first + at);
  return blocks.flatMap((block) => nearest.map((index) => ({ level, index, block })));
}

function indexesOf(view: View, level: number): number[] {
  const first = indexAt(view, level);
  const indexes = [first];
  const endMs = view.fromMs + view.spanMs;
  for (let index = first + 1; startMsOf({ level, index }, view) < endMs; index++) indexes.push(index);
  return indexes;
}

/** Returns which tile the view begins in. The number is corrected by the exact start, because it may be one off at the edge of a tile. */
function indexAt(view: View, level: number): number {
  const lengthNs = BigInt(TILE_BINS) << BigInt(level);
  const sinceMs = view.fromMs - fromNs(view, (view.originNs / lengthNs) * lengthNs);
  const index = Number(view.originNs / lengthNs) + Math.floor(sinceMs / (binMsOf(level) * TILE_BINS));
  if (startMsOf({ level, index }, view) > view.fromMs) return index - 1;
  return startMsOf({ level, index: index + 1 }, view) <= view.fromMs ? index + 1 : index;
}

export function nameOf({ level, index, block }: TileKey): string {
  return `${level}/${index}/${block}`;
}

/** Returns the tile of the same rows whose bins are twice as wide. */
export function parentOf({ level, index, block }: TileKey): TileKey | undefined {
  return level >= MAX_LEVEL ? undefined : { level: level + 1, index: Math.floor(index / 2), block };
}

/** Returns the two tiles of the same rows whose bins are half as wide. */
export function childrenOf({ level, index, block }: TileKey): TileKey[] {
  if (level <= MIN_LEVEL) return [];
  return [2 * index, 2 * index + 1].map((at) => ({ level: level - 1, index: at, block }));
}

export function startNsOf({ level, index }: Pick<TileKey, "level" | "index">): bigint {
  return (BigInt(index) * BigInt(TILE_BINS)) << BigInt(level);
}

/** Returns the start of a tile, in milliseconds from the origin of the view. */
export function startMsOf(key: Pick<TileKey, "level" | "index">, view: Pick<View, "originNs">): number {
  return fromNs(view, startNsOf(key));
}

export function binMsOf(level: number): number {
  return 2 ** level / 1e6;
}
