import { elementScroll, observeElementOffset, observeElementRect, Virtualizer } from "@tanstack/virtual-core";
import type { RefObject } from "preact";
import { useEffect, useReducer, useState } from "preact/hooks";

/** The most rows of one list. A browser cannot lay out a box of much more than 33,000,000 pixels: beyond it, rows could not be reached. */
export const MOST_ROWS = 200_000;
const OVERSCAN = 8;

export interface RowWindow {
  readonly heightPx: number;
  /** The rows that are drawn, with where each begins. */
  readonly items: readonly { readonly index: number; readonly startPx: number }[];
  scrollTo(index: number): void;
}

/** Tells which of many rows of one height are to be drawn. */
export function useRowWindow(
  scroller: RefObject<HTMLElement | null>,
  { count, rowPx }: { count: number; rowPx: number },
): RowWindow {
  const [, render] = useReducer((times: number) => times + 1, 0);
  const options = {
    count: Math.min(count, MOST_ROWS),
    getScrollElement: () => scroller.current,
    estimateSize: () => rowPx,
    overscan: OVERSCAN,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    onChange: () => render(undefined),
  };
  const [virtualizer] = useState(() => new Virtualizer<HTMLElement, Element>(options));
  virtualizer.setOptions(options);
  useEffect(() => virtualizer._didMount(), [virtualizer]);
  useEffect(() => {
    virtualizer._willUpdate();
    virtualizer.measure();
  }, [count, rowPx]);
  return {
    heightPx: virtualizer.getTotalSize(),
    items: virtualizer.getVirtualItems().map(({ index, start }) => ({ index, startPx: start })),
    scrollTo: (index) => virtualizer.scrollToIndex(index),
  };
}
