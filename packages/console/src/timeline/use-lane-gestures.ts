import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { type Place, watchGestures } from "./gestures.ts";
import type { Act } from "./lane-actions.ts";
import { columnsOf } from "./lane-canvas.ts";
import type { ChangingSource, Cursor, LaneState } from "./lane-state.ts";
import { nearestData, rangeAround } from "./range-around.ts";
import { msAt, panBy, type View, zoomAbout } from "./view.ts";

interface Options {
  readonly bars: RefObject<HTMLElement | null>;
  readonly state: LaneState;
  readonly source: ChangingSource;
  readonly count: number;
  readonly rowPx: number;
  readonly onAct: (act: Act) => void;
}

/** How far from data a click still means it, in pixels of the page. */
const REACH_PX = 6;
const CLOSER = 0.25;
const ROOM = 0.1;

/** Handles mouse, pen and touch over the lanes. */
export function useLaneGestures(options: Options): void {
  const latest = useRef(options);
  latest.current = options;
  useEffect(
    () =>
      watchGestures(options.bars.current!, {
        pan: (share) => change(latest.current, (view) => panBy(view, share)),
        zoom: (factor, share) => change(latest.current, (view) => zoomAbout(view, factor, share)),
        click: (at) => click(latest.current, at),
        doubleClick: (at) => change(latest.current, (view) => zoomToRun(latest.current, view, at)),
        select: (from, to, isDone) => select(latest.current, [from, to], isDone),
        hover: (at) => hover(latest.current, at),
      }),
    [],
  );
}

function change({ state }: Options, to: (view: View) => View): void {
  state.view.value = to(state.view.value);
}

function rowAt({ count, rowPx }: Options, { topPx }: Place): number {
  return Math.min(Math.max(0, Math.floor(topPx / rowPx)), Math.max(0, count - 1));
}

/** Returns the row and the time at a place; within a few pixels of data, of that data. */
function cursorAt(options: Options, at: Place): Cursor {
  const { state, source, bars } = options;
  const [row, widthPx] = [rowAt(options, at), Math.max(1, bars.current!.clientWidth)];
  const columns = columnsOf(row, { view: state.view.value, widthPx }, source);
  const px = Math.min(widthPx - 1, Math.max(0, Math.floor(at.share * widthPx)));
  const nearest = nearestData(columns, px, REACH_PX);
  return { row, ms: msAt(state.view.value, nearest === px ? at.share : (nearest + 0.5) / widthPx) };
}

function click(options: Options, at: Place): void {
  const { state, bars, onAct } = options;
  state.selection.value = undefined;
  state.cursor.value = cursorAt(options, at);
  bars.current?.closest<HTMLElement>(".lanes-scroller")?.focus({ preventScroll: true });
  onAct("inspect");
}

function hover(options: Options, at: Place | undefined): void {
  const { state, bars } = options;
  const pixelMs = state.view.value.spanMs / Math.max(1, bars.current!.clientWidth);
  state.hover.value = at && { ...cursorAt(options, at), ...at, pixelMs };
}

function select(options: Options, places: readonly [Place, Place], isDone: boolean): void {
  const { state, bars, onAct } = options;
  const [first = 0, last = 0] = places.map((place) => rowAt(options, place)).sort((a, b) => a - b);
  const [fromMs = 0, toMs = 0] = places
    .map(({ share }) => msAt(state.view.value, Math.min(Math.max(share, 0), 1)))
    .sort((a, b) => a - b);
  state.selection.value = { firstRow: first, lastRow: last, fromMs, toMs };
  state.cursor.value = { row: first, ms: fromMs };
  if (!isDone) return;
  bars.current?.closest<HTMLElement>(".lanes-scroller")?.focus({ preventScroll: true });
  onAct("inspect");
}

/** Shows the range that was clicked with some room on both sides; where there is none, comes closer. */
function zoomToRun({ state, source, bars }: Options, view: View, at: Place): View {
  const widthPx = Math.max(1, bars.current!.clientWidth);
  const columns = columnsOf(state.cursor.value.row, { view, widthPx }, source);
  const px = Math.min(widthPx - 1, Math.max(0, Math.floor(at.share * widthPx)));
  const { fromPx, toPx } = rangeAround(columns, nearestData(columns, px, REACH_PX));
  if (fromPx === toPx) return zoomAbout(view, CLOSER, at.share);
  const spanMs = view.spanMs * ((toPx - fromPx) / widthPx) * (1 + 2 * ROOM);
  return zoomAbout({ ...view, fromMs: msAt(view, fromPx / widthPx) - spanMs * (ROOM / (1 + 2 * ROOM)), spanMs }, 1, 0);
}
