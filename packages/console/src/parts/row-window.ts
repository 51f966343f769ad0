import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import { isWithin, type RowRange, rowsInSight, withOverscan } from "./rows-in-sight.ts";

/** The most rows of one list. A browser cannot lay out a box of much more than 33,000,000 pixels: beyond it, rows could not be reached. */
const MOST_ROWS = 200_000;
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

/** Returns which of many rows of one height are to be drawn; without a height, of that of tables. */
export function useRowWindow(scroller: RefObject<HTMLElement | null>, count: number, heightPx?: number): RowWindow {
  const isNarrow = useNarrow();
  const rowPx = heightPx ?? (isNarrow ? NARROW_ROW_PX : ROW_PX);
  const { firstRow, endRow } = useDrawnRows({ scroller, rowPx, count: Math.min(count, MOST_ROWS) });
  return {
    isNarrow,
    heightPx: Math.min(count, MOST_ROWS) * rowPx,
    items: Array.from({ length: endRow - firstRow }, (_, place) => firstRow + place).map((index) => {
      return { index, startPx: index * rowPx };
    }),
    scrollTo(index) {
      if (scroller.current) showRow(scroller.current, index * rowPx, rowPx);
    },
  };
}

interface Scrolled {
  readonly scroller: RefObject<HTMLElement | null>;
  readonly rowPx: number;
  readonly count: number;
}

/** Follows the scroller, and draws again only where rows are needed that are not drawn yet. */
function useDrawnRows({ scroller, rowPx, count }: Scrolled): RowRange {
  const [drawn, setDrawn] = useState<RowRange>({ firstRow: 0, endRow: 0 });
  const [box, setBox] = useState<HTMLElement | null>(null);
  useLayoutEffect(() => setBox(scroller.current));
  useLayoutEffect(() => {
    if (!box) return;
    const read = () => rowsInSight({ topPx: box.scrollTop, heightPx: box.clientHeight, rowPx, count });
    const follow = () => setDrawn((before) => (isWithin(read(), before) ? before : withOverscan(read(), count)));
    const sized = new ResizeObserver(follow);
    setDrawn(withOverscan(read(), count));
    sized.observe(box);
    box.addEventListener("scroll", follow, { passive: true });
    return () => {
      sized.disconnect();
      box.removeEventListener("scroll", follow);
    };
  }, [box, rowPx, count]);
  return { firstRow: Math.min(drawn.firstRow, count), endRow: Math.min(drawn.endRow, count) };
}

/** Scrolls as far as it must be for a row to be seen whole. */
function showRow(box: HTMLElement, startPx: number, rowPx: number): void {
  if (startPx < box.scrollTop) box.scrollTop = startPx;
  else if (startPx + rowPx > box.scrollTop + box.clientHeight) box.scrollTop = startPx + rowPx - box.clientHeight;
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
