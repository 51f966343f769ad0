import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { type Place, watchGestures } from "./gestures.ts";
import type { Act } from "./lane-actions.ts";
import { columnsOf } from "./lane-canvas.ts";
import type { ChangingSource, LaneState } from "./lane-state.ts";
import { rangeAround } from "./range-around.ts";
import { msAt, panBy, type View, zoomAbout } from "./view.ts";

interface Options {
  readonly bars: RefObject<HTMLElement | null>;
  readonly state: LaneState;
  readonly source: ChangingSource;
  readonly count: number;
  readonly rowPx: number;
  readonly onAct: (act: Act) => void;
}

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
        select: (from, to) => select(latest.current, from, to),
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

function click(options: Options, at: Place): void {
  const { state, bars, onAct } = options;
  state.selection.value = undefined;
  state.cursor.value = { row: rowAt(options, at), ms: msAt(state.view.value, at.share) };
  bars.current?.closest<HTMLElement>(".lanes-scroller")?.focus({ preventScroll: true });
  onAct("inspect");
}

function select(options: Options, from: Place, to: Place): void {
  const { state, onAct } = options;
  const [first = 0, last = 0] = [rowAt(options, from), rowAt(options, to)].sort((a, b) => a - b);
  const [fromMs = 0, toMs = 0] = [from.share, to.share]
    .map((share) => msAt(state.view.value, Math.min(Math.max(share, 0), 1)))
    .sort((a, b) => a - b);
  state.selection.value = { firstRow: first, lastRow: last, fromMs, toMs };
  state.cursor.value = { row: first, ms: fromMs };
  onAct("inspect");
}

/** Shows the range that was clicked with some room on both sides; where there is none, comes closer. */
function zoomToRun({ state, source, bars }: Options, view: View, at: Place): View {
  const widthPx = Math.max(1, bars.current!.clientWidth);
  const columns = columnsOf(state.cursor.value.row, { view, widthPx }, source);
  const { fromPx, toPx } = rangeAround(columns, Math.min(widthPx - 1, Math.max(0, Math.floor(at.share * widthPx))));
  if (fromPx === toPx) return zoomAbout(view, CLOSER, at.share);
  const spanMs = view.spanMs * ((toPx - fromPx) / widthPx) * (1 + 2 * ROOM);
  return zoomAbout({ ...view, fromMs: msAt(view, fromPx / widthPx) - spanMs * (ROOM / (1 + 2 * ROOM)), spanMs }, 1, 0);
}
