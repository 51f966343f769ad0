import { coverageBits } from "@downlink/protocol";

/** The contents of a bin, one bit each. Several may hold. */
export const bits = { ...coverageBits, unasked: 128 } as const;

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
  readonly hatch: number;
  readonly imported: number;
  readonly onItsWay: number;
  readonly edgeOnly: number;
  readonly failed: number;
  readonly event: number;
}

/**
 * The part of a row that a line of pixels draws: the mark of an event, the foot of the bar, which all data has, its base, which shows data that
 * is here below data that is not, such as a part of a recording, or a height that it has where recordings cover at least so many thirds of the
 * time. Each line is stretched by the page.
 */
export type Line = "event" | "gap" | "foot" | "base" | 0 | 1 | 2;

const TALL: readonly Line[] = ["event", "gap", 2, 2, 1, 0, "base", "gap"];
const THIN: readonly Line[] = ["event", "foot", "foot", "base"];
const TALL_PX = 16;

/** Returns the lines of a row, from its top. Rows that are too thin for heights show states alone. */
export function linesOf(rowPx: number): readonly Line[] {
  return rowPx < TALL_PX ? THIN : TALL;
}

/** Patterns repeat after so many pixels. */
export const PATTERN_PX = 8;
const CELLS = 256;

/** The colour of each line for each cell, at each place in the pattern. */
export type Paint = readonly Uint32Array[];

/** Mixes the colours of all cells beforehand, because a frame has hundreds of thousands of them. Bits outside of `shown` are not painted. */
export function mixPaint(palette: Palette, lines: readonly Line[], shown = 255): Paint {
  return lines.map((line, number) => {
    const colours = new Uint32Array(PATTERN_PX * CELLS);
    for (let at = 0; at < PATTERN_PX; at++)
      for (let cell = 0; cell < CELLS; cell++)
        colours[at * CELLS + cell] = colourOf(cell & shown, line, {
          palette,
          isEven: at < PATTERN_PX / 2 === (number % 2 === 0),
        });
    return colours;
  });
}

/**
 * Returns the colour of a line of a cell. Failed imports fill the height, whatever they cover; data on its way is paler above its foot.
 */
function colourOf(cell: number, line: Line, { palette, isEven }: { palette: Palette; isEven: boolean }): number {
  if (line === "event" && cell & bits.event) return palette.event;
  const state = stateOf(cell);
  if (line === "event" || line === "gap" || state === "nothing") return palette.page;
  if (state === "unasked") return isEven ? palette.hatch : palette.page;
  if (line === "base" && state === "edgeOnly" && cell & bits.imported) return palette.imported;
  if (state === "failed" || line === "foot" || line === "base") return palette[state];
  if (line > thirdsOf(cell)) return palette.page;
  return state === "onItsWay" ? mix(palette.onItsWay, palette.page) : palette[state];
}

function thirdsOf(cell: number): 0 | 1 | 2 {
  if (cell & bits.twoThirds) return 2;
  return cell & bits.third ? 1 : 0;
}

/** Returns the middle of two colours, channel by channel. */
function mix(one: number, other: number): number {
  return ((((one ^ other) & 0xfefefefe) >>> 1) + (one & other)) >>> 0;
}

export interface Target {
  readonly pixels: Uint32Array;
  readonly widthPx: number;
  readonly row: number;
  /** How far the patterns are moved, so that they stay with the time while it is panned. A whole number. */
  readonly phasePx: number;
}

export function paintRow(columns: Uint8Array, paint: Paint, { pixels, widthPx, row, phasePx }: Target): void {
  for (const [line, table] of paint.entries()) {
    const start = (row * paint.length + line) * widthPx;
    for (let px = 0; px < widthPx; px++)
      pixels[start + px] = table[((px + phasePx) & (PATTERN_PX - 1)) * CELLS + columns[px]!]!;
  }
}
