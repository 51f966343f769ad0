import type { Span } from "./preview-window.ts";

/** An equal part of a window, and its place in the film. */
export interface Tile extends Span {
  readonly leftPx: number;
  readonly widthPx: number;
}

/** About as wide as a picture of 16:9 is in the film. */
const TILE_PX = 68;
const GAP_PX = 1;

/** Cuts a window into as many equal parts as pictures have room beside each other. */
export function tilesOf({ startNs, endNs }: Span, widthPx: number): Tile[] {
  const count = Math.floor(widthPx / TILE_PX);
  const timeAt = (place: number) => startNs + ((endNs - startNs) * BigInt(place)) / BigInt(count);
  return Array.from({ length: count }, (_, place) => ({
    startNs: timeAt(place),
    endNs: timeAt(place + 1),
    leftPx: (widthPx * place) / count,
    widthPx: widthPx / count - GAP_PX,
  }));
}

interface Size {
  readonly width: number;
  readonly height: number;
}

/** Returns the middle part of a picture that has the form of a tile. */
export function coverTile(picture: Size, tile: Size): Size & { readonly x: number; readonly y: number } {
  const scale = Math.max(tile.width / picture.width, tile.height / picture.height);
  const [width, height] = [tile.width / scale, tile.height / scale];
  return { x: (picture.width - width) / 2, y: (picture.height - height) / 2, width, height };
}

interface Painting<Bitmap> {
  /** Returns the last picture before a time, or another one where that is none. */
  readonly pictureAt: (endNs: bigint) => Promise<{ readonly timeNs: bigint; readonly bitmap: Bitmap }>;
  readonly draw: (bitmap: Bitmap, tile: Tile) => void;
  readonly signal: AbortSignal;
}

/** Asks for one picture after the other, so that the views need not wait for all of them. A part without a picture stays empty. */
export async function paintTiles<Bitmap extends { close(): void }>(
  tiles: readonly Tile[],
  { pictureAt, draw, signal }: Painting<Bitmap>,
): Promise<void> {
  for (const tile of tiles) {
    const found = await pictureAt(tile.endNs).catch(() => undefined); // the view says what is wrong
    if (found && !signal.aborted && found.timeNs >= tile.startNs && found.timeNs < tile.endNs) draw(found.bitmap, tile);
    found?.bitmap.close();
    if (signal.aborted) return;
  }
}
