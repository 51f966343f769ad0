import { effect, type Signal, useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect } from "preact/hooks";
import { watchLook } from "../browser/watch-look.ts";
import { isWithin, type RowRange, rowsInSight, withOverscan } from "../parts/rows-in-sight.ts";
import { LaneCanvas } from "./lane-canvas.ts";
import type { ChangingSource, LaneState } from "./lane-state.ts";

interface Options {
  readonly scroller: RefObject<HTMLElement | null>;
  readonly canvas: RefObject<HTMLCanvasElement | null>;
  readonly state: LaneState;
  readonly source: ChangingSource;
  readonly count: number;
  readonly rowPx: number;
}

/** Keeps the picture of the rows in sight up to date, at most once a frame. Returns which rows are drawn. */
export function useLaneCanvas(options: Options): Signal<RowRange> {
  const { scroller, canvas, state, source, count, rowPx } = options;
  const drawn = useSignal<RowRange>({ firstRow: 0, endRow: 0 });
  useEffect(() => {
    const picture = new Picture(options, drawn);
    const stopSignals = effect(() => {
      state.view.value;
      source.version.value;
      picture.isStale();
    });
    const stopLook = watchLook(() => picture.recolour());
    const sized = new ResizeObserver(() => picture.isStale());
    for (const element of [scroller.current!, canvas.current!.parentElement!]) sized.observe(element);
    const follow = () => picture.ask();
    scroller.current!.addEventListener("scroll", follow, { passive: true });
    return () => {
      stopSignals();
      stopLook();
      sized.disconnect();
      scroller.current?.removeEventListener("scroll", follow);
      picture.stop();
    };
  }, [state, source, count, rowPx]);
  return drawn;
}

class Picture {
  readonly #options: Options;
  readonly #drawn: Signal<RowRange>;
  readonly #canvas: LaneCanvas;
  #frame = 0;
  #stale = true;

  constructor(options: Options, drawn: Signal<RowRange>) {
    this.#options = options;
    this.#drawn = drawn;
    this.#canvas = new LaneCanvas(options.canvas.current!, options.rowPx);
  }

  ask(): void {
    if (this.#frame === 0) this.#frame = requestAnimationFrame(() => this.#draw());
  }

  isStale(): void {
    this.#stale = true;
    this.ask();
  }

  recolour(): void {
    this.#canvas.repaint();
    this.isStale();
  }

  stop(): void {
    cancelAnimationFrame(this.#frame);
  }

  #draw(): void {
    this.#frame = 0;
    const { scroller, canvas, state, source, count, rowPx } = this.#options;
    const box = scroller.current;
    if (!box) return;
    const inSight = rowsInSight({ topPx: box.scrollTop, heightPx: box.clientHeight, rowPx, count });
    if (!this.#stale && isWithin(inSight, this.#drawn.peek())) return;
    this.#stale = false;
    const range = withOverscan(inSight, count);
    const element = canvas.current!;
    element.style.top = `${range.firstRow * rowPx}px`;
    element.style.height = `${(range.endRow - range.firstRow) * rowPx}px`;
    this.#canvas.draw(range, state.view.peek(), source);
    const { firstRow, endRow } = this.#drawn.peek();
    if (firstRow !== range.firstRow || endRow !== range.endRow) this.#drawn.value = range;
  }
}
