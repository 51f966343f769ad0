import {
  bits,
  fillColumns,
  LINES,
  mixPaint,
  PATTERN_PX,
  type Paint,
  type Palette,
  paintRow,
  type Strip,
} from "./paint-row.ts";
import type { RowRange } from "./rows-in-sight.ts";
import type { Window } from "./tiles.ts";
import type { View } from "./view.ts";

/** Where the cells of the rows come from. */
export interface LaneSource {
  /** Says which window is in sight, and returns the known strips of each of its rows. */
  look(window: Window): (row: number) => readonly Strip[];
}

/** One line of pixels for each third of a row, which the page stretches: painting a row costs as much as its columns, however much is in it. */
export class LaneCanvas {
  readonly #canvas: HTMLCanvasElement;
  #context: CanvasRenderingContext2D;
  #image: ImageData | undefined;
  #paint: Paint;
  #columns = new Uint8Array(0);

  constructor(canvas: HTMLCanvasElement) {
    this.#canvas = canvas;
    this.#context = canvas.getContext("2d", { alpha: false })!;
    this.#paint = readPaint(canvas.parentElement!);
  }

  /** The theme changed. */
  repaint(): void {
    this.#paint = readPaint(this.#canvas.parentElement!);
  }

  /** How many pixels of the screen the rows are wide. */
  get widthPx(): number {
    return Math.max(1, Math.round(this.#canvas.parentElement!.clientWidth * devicePixelRatio));
  }

  draw({ firstRow, endRow }: RowRange, view: View, source: LaneSource): void {
    const { widthPx } = this;
    const image = this.#imageOf(widthPx, Math.max(1, endRow - firstRow) * LINES);
    const pixels = new Uint32Array(image.data.buffer);
    const stripsOf = source.look({ view, widthPx, firstRow, endRow });
    const scale = { fromMs: view.fromMs, pixelMs: view.spanMs / widthPx };
    const phasePx = Math.round((view.fromMs / scale.pixelMs) % PATTERN_PX);
    for (let row = firstRow; row < endRow; row++) {
      this.#columns.fill(bits.unasked);
      for (const strip of stripsOf(row)) fillColumns(this.#columns, strip, scale);
      paintRow(this.#columns, this.#paint, { pixels, widthPx, row: row - firstRow, phasePx });
    }
    this.#context.putImageData(image, 0, 0);
  }

  #imageOf(widthPx: number, heightPx: number): ImageData {
    if (this.#image?.width === widthPx && this.#image.height === heightPx) return this.#image;
    this.#canvas.width = widthPx;
    this.#canvas.height = heightPx;
    this.#columns = new Uint8Array(widthPx);
    this.#image = this.#context.createImageData(widthPx, heightPx);
    return this.#image;
  }
}

const TOKENS: Readonly<Record<keyof Palette, string>> = {
  page: "--surface",
  lane: "--sunken",
  hatch: "--line",
  imported: "--imported",
  onItsWay: "--moving",
  edgeOnly: "--edge",
  failed: "--failed",
  event: "--event",
};

/** Reads the colours of the theme as the page shows them. */
function readPaint(inside: HTMLElement): Paint {
  const probe = document.createElement("i");
  inside.append(probe);
  const read = (token: string) => {
    probe.style.color = `var(${token})`;
    const [red = 0, green = 0, blue = 0] = (getComputedStyle(probe).color.match(/[\d.]+/g) ?? []).map(Number);
    return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
  };
  const palette = Object.fromEntries(Object.entries(TOKENS).map(([name, token]) => [name, read(token)]));
  probe.remove();
  return mixPaint(palette as unknown as Palette);
}

/** Returns the known contents of one row, column by column. */
export function columnsOf(
  row: number,
  { view, widthPx }: Pick<Window, "view" | "widthPx">,
  source: LaneSource,
): Uint8Array {
  const columns = new Uint8Array(widthPx).fill(bits.unasked);
  const stripsOf = source.look({ view, widthPx, firstRow: row, endRow: row + 1 });
  const scale = { fromMs: view.fromMs, pixelMs: view.spanMs / widthPx };
  for (const strip of stripsOf(row)) fillColumns(columns, strip, scale);
  return columns;
}
