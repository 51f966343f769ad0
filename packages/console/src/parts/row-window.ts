import { elementScroll, observeElementOffset, observeElementRect, Virtualizer } from "@tanstack/virtual-core";
import type { RefObject } from "preact";
import { useEffect, useReducer, useState } from "preact/hooks";

/** The most rows of one list. A browser cannot lay out a box of much more than 33,000,000 pixels: beyond it, rows could not be reached. */
const MOST_ROWS = 200_000;
const OVERSCAN = 8;
const ROW_PX = 36;
const NARROW_ROW_PX = 58;
const NARROW_PAGE = "(max-width: 719px)";

export interface RowWindow {
  /** Whether the page is as narrow as a phone, on which rows have two lines. */
  readonly isNarrow: boolean;
  readonly heightPx: number;
  /** The rows that are drawn, with where each begins. */
  readonly items: readonly { readonly index: number; readonly startPx: number }[];
  scrollTo(index: number): void;
}

/** Tells which of many rows of one height are to be drawn; without a height, of that of tables. */
export function useRowWindow(scroller: RefObject<HTMLElement | null>, count: number, heightPx?: number): RowWindow {
  const isNarrow = useNarrow();
  const rowPx = heightPx ?? (isNarrow ? NARROW_ROW_PX : ROW_PX);
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
    isNarrow,
    heightPx: virtualizer.getTotalSize(),
    items: virtualizer.getVirtualItems().map(({ index, start }) => ({ index, startPx: start })),
    scrollTo: (index) => virtualizer.scrollToIndex(index),
  };
}

function useNarrow(): boolean {
  const [isNarrow, setNarrow] = useState(() => matchMedia(NARROW_PAGE).matches);
  useEffect(() => {
    const media = matchMedia(NARROW_PAGE);
    const follow = () => setNarrow(media.matches);
    media.addEventListener("change", follow);
    return () => media.removeEventListener("change", follow);
  }, []);
  return isNarrow;
}
