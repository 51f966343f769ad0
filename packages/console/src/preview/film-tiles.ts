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
