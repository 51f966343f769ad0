import type { RowRange } from "../parts/rows-in-sight.ts";
import {
  bits,
  fillColumns,
  linesOf,
  mixPaint,
  PATTERN_PX,
  type Paint,
  type Palette,
  paintRow,
  type Strip,
} from "./paint-row.ts";
import type { Window } from "./tiles.ts";
import type { View } from "./view.ts";

/** Where the cells of the rows come from. */
export interface LaneSource {
  /** The bits of its cells that are shown. */
  readonly shown: number;
  /** Says which window is in sight: what is not known of it is asked for. */
  look(window: Window): void;
  /** Returns the known strips of each row of a window, and asks for nothing. */
  stripsIn(window: Window): (row: number) => readonly Strip[];
}

/** A few lines of pixels for each row, which the page stretches: painting a row costs as much as its columns, however much is in it. */
export class LaneCanvas {
  readonly #canvas: HTMLCanvasElement;
  #context: CanvasRenderingContext2D;
  #image: ImageData | undefined;
  #palette: Palette;
  #paint: { readonly shown: number; readonly colours: Paint } | undefined;
  readonly #rowPx: number;
  #columns = new Uint8Array(0);

  constructor(canvas: HTMLCanvasElement, rowPx: number) {
    this.#canvas = canvas;
    this.#rowPx = rowPx;
    this.#context = canvas.getContext("2d", { alpha: false })!;
    this.#palette = readPalette(canvas.parentElement!);
  }

  /** The theme changed. */
  repaint(): void {
    this.#palette = readPalette(this.#canvas.parentElement!);
    this.#paint = undefined;
  }

  /** How many pixels of the screen the rows are wide. */
  get widthPx(): number {
    return Math.max(1, Math.round(this.#canvas.parentElement!.clientWidth * devicePixelRatio));
  }

  draw({ firstRow, endRow }: RowRange, view: View, source: LaneSource): void {
    const { widthPx } = this;
    const paint = this.#paintOf(source.shown);
    const image = this.#imageOf(widthPx, Math.max(1, endRow - firstRow) * paint.length);
    const pixels = new Uint32Array(image.data.buffer);
    source.look({ view, widthPx, firstRow, endRow });
    const stripsOf = source.stripsIn({ view, widthPx, firstRow, endRow });
    const scale = { fromMs: view.fromMs, pixelMs: view.spanMs / widthPx };
    const phasePx = Math.round((view.fromMs / scale.pixelMs) % PATTERN_PX);
    for (let row = firstRow; row < endRow; row++) {
      this.#columns.fill(bits.unasked);
      for (const strip of stripsOf(row)) fillColumns(this.#columns, strip, scale);
      paintRow(this.#columns, paint, { pixels, widthPx, row: row - firstRow, phasePx });
    }
    this.#context.putImageData(image, 0, 0);
  }

  #paintOf(shown: number): Paint {
    if (this.#paint?.shown !== shown)
      this.#paint = { shown, colours: mixPaint(this.#palette, linesOf(this.#rowPx), shown) };
    return this.#paint.colours;
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
  hatch: "--sunken",
  imported: "--imported",
  onItsWay: "--moving",
  edgeOnly: "--edge",
  failed: "--failed",
  event: "--event",
};

/** Reads the colours of the theme as the page shows them. */
function readPalette(inside: HTMLElement): Palette {
  const probe = document.createElement("i");
  inside.append(probe);
  const read = (token: string) => {
    probe.style.color = `var(${token})`;
    const [red = 0, green = 0, blue = 0] = (getComputedStyle(probe).color.match(/[\d.]+/g) ?? []).map(Number);
    return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
  };
  const palette = Object.fromEntries(Object.entries(TOKENS).map(([name, token]) => [name, read(token)]));
  probe.remove();
  return palette as unknown as Palette;
}

/** Returns the known contents of one row that are shown, column by column. */
export function columnsOf(
  row: number,
  { view, widthPx }: Pick<Window, "view" | "widthPx">,
  source: LaneSource,
): Uint8Array {
  const columns = new Uint8Array(widthPx).fill(bits.unasked);
  const stripsOf = source.stripsIn({ view, widthPx, firstRow: row, endRow: row + 1 });
  const scale = { fromMs: view.fromMs, pixelMs: view.spanMs / widthPx };
  for (const strip of stripsOf(row)) fillColumns(columns, strip, scale);
  return columns.map((cell) => cell & source.shown);
}
