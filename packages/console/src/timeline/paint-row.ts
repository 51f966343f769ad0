/** The contents of a bin, one bit each. Several may hold. */
export const bits = { imported: 1, onItsWay: 2, edgeOnly: 4, failed: 8, event: 16, unasked: 128 } as const;

/** The states of a cell, the most important first. */
export type State = "failed" | "onItsWay" | "edgeOnly" | "imported" | "nothing" | "unasked";

export function stateOf(cell: number): State {
  if (cell & bits.failed) return "failed";
  if (cell & bits.onItsWay) return "onItsWay";
  if (cell & bits.edgeOnly) return "edgeOnly";
  if (cell & bits.imported) return "imported";
  return cell & bits.unasked ? "unasked" : "nothing";
}

/** A part of a row: the cells that are known for it, and the pixel columns that they fill. */
export interface Strip {
  readonly cells: Uint8Array;
  /** The start of the first cell, in milliseconds from the origin of the view. */
  readonly startMs: number;
  readonly binMs: number;
  readonly fromPx: number;
  readonly toPx: number;
}

export interface Scale {
  readonly fromMs: number;
  readonly pixelMs: number;
}

/**
 * Adds to each pixel column all that is in any bin that touches it, so that nothing is ever thinner than a pixel. A column at the edge of two strips
 * has what is in either.
 */
export function fillColumns(columns: Uint8Array, { cells, startMs, binMs, fromPx, toPx }: Strip, scale: Scale): void {
  const binsPerPx = scale.pixelMs / binMs;
  const offset = (scale.fromMs - startMs) / binMs;
  for (let px = fromPx; px < toPx; px++) {
    const at = offset + px * binsPerPx;
    let bin = Math.max(0, Math.floor(at + SLACK));
    const end = Math.min(cells.length, Math.max(Math.ceil(at + binsPerPx - SLACK), bin + 1));
    let cell = 0;
    for (; bin < end; bin++) cell |= cells[bin]!;
    columns[px] = (columns[px]! & ~bits.unasked) | cell;
  }
}

/** Edges of bins and pixels that fall together differ by the rounding of numbers. */
export const SLACK = 1e-6;

/** Colours as `ImageData` holds them on a machine that is little-endian, as all are on which a browser runs. */
export interface Palette {
  readonly page: number;
  readonly lane: number;
  readonly hatch: number;
  readonly imported: number;
  readonly onItsWay: number;
  readonly edgeOnly: number;
  readonly failed: number;
  readonly event: number;
}

/** Lines of pixels of one row: the gap above the bar, in which events stand, and two of the bar. Each is stretched by the page. */
export const LINES = 3;
/** Patterns repeat after so many pixels. */
export const PATTERN_PX = 8;
const CELLS = 256;

/** The colour of each line for each cell, at each place in the pattern. */
export type Paint = readonly [gap: Uint32Array, upper: Uint32Array, lower: Uint32Array];

/** Mixes the colours of all cells beforehand, because a frame has hundreds of thousands of them. */
export function mixPaint(palette: Palette): Paint {
  const paint = [0, 1, 2].map(() => new Uint32Array(PATTERN_PX * CELLS)) as [Uint32Array, Uint32Array, Uint32Array];
  for (let at = 0; at < PATTERN_PX; at++)
    for (let cell = 0; cell < CELLS; cell++)
      for (const [line, colour] of coloursOf(cell, palette, at).entries()) paint[line]![at * CELLS + cell] = colour;
  return paint;
}

/**
 * Returns the colours of a cell. Each state has a shape as well: imported data fills the bar, data on its way its lower half, data on the
 * device alone is striped, and failed imports fill the gap above the bar too.
 */
function coloursOf(cell: number, palette: Palette, at: number): [gap: number, upper: number, lower: number] {
  const { lane, page, hatch, failed, imported } = palette;
  const gap = cell & bits.event ? palette.event : page;
  const stripe = at % 4 < 2 ? palette.edgeOnly : lane;
  switch (stateOf(cell)) {
    case "failed":
      return [cell & bits.event ? palette.event : failed, failed, failed];
    case "imported":
      return [gap, imported, imported];
    case "onItsWay":
      return [gap, lane, palette.onItsWay];
    case "edgeOnly":
      return [gap, stripe, stripe];
    case "unasked":
      return at < PATTERN_PX / 2 ? [gap, hatch, lane] : [gap, lane, hatch];
    case "nothing":
      return [gap, lane, lane];
  }
}

export interface Target {
  readonly pixels: Uint32Array;
  readonly widthPx: number;
  readonly row: number;
  /** How far the patterns are moved, so that they stay with the time while it is panned. A whole number. */
  readonly phasePx: number;
}

export function paintRow(columns: Uint8Array, paint: Paint, { pixels, widthPx, row, phasePx }: Target): void {
  for (let line = 0; line < LINES; line++) {
    const table = paint[line]!;
    const start = (row * LINES + line) * widthPx;
    for (let px = 0; px < widthPx; px++)
      pixels[start + px] = table[((px + phasePx) & (PATTERN_PX - 1)) * CELLS + columns[px]!]!;
  }
}
