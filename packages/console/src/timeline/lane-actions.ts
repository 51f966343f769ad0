import { columnsOf, type LaneSource } from "./lane-canvas.ts";
import { actionOf } from "./lane-keys.ts";
import type { LaneState } from "./lane-state.ts";
import { nextEdge } from "./runs.ts";
import { msAt, reveal, shareOf, zoomAbout } from "./view.ts";

/** The actions on the selection, or on what is at the cursor; `clear` ends both. */
export type Act = "inspect" | "open" | "import" | "event" | "clear";

export interface Lane {
  readonly state: LaneState;
  readonly source: LaneSource;
  readonly count: number;
  /** In pixels of the page. */
  readonly widthPx: number;
  readonly onAct: (act: Act) => void;
}

type Key = Parameters<typeof actionOf>[0];

/** Does what a key means here. Returns whether it means anything. */
export function pressKey(key: Key, lane: Lane): boolean {
  const action = actionOf(key);
  const { state, onAct } = lane;
  switch (action?.kind) {
    case undefined:
      return false;
    case "move":
      moveCursor(lane, action);
      return true;
    case "edge":
      toEdge(lane, action.direction);
      return true;
    case "end":
      place(state, state.cursor.value.row, msAt(state.view.value, action.direction > 0 ? 1 : 0));
      return true;
    case "zoom": {
      const share = shareOf(state.view.value, state.cursor.value.ms);
      state.view.value = zoomAbout(state.view.value, action.factor, Math.min(Math.max(share, 0), 1));
      return true;
    }
    case "clear":
      state.selection.value = undefined;
      onAct("clear");
      return true;
    default:
      onAct(action!.kind as Act);
      return true;
  }
}

function moveCursor({ state, count, widthPx }: Lane, { rows, bins }: { rows: number; bins: number }): void {
  const { row, ms } = state.cursor.value;
  const pixelMs = state.view.value.spanMs / widthPx;
  place(state, Math.min(Math.max(0, row + rows), Math.max(0, count - 1)), ms + bins * pixelMs);
}

/** Moves to where data in the row begins or ends; from the edge of the screen, on to the part beside it. */
function toEdge({ state, source, widthPx }: Lane, direction: 1 | -1): void {
  const { row, ms } = state.cursor.value;
  const view = state.view.value;
  const columns = columnsOf(row, { view, widthPx }, source);
  const at = Math.min(widthPx - 1, Math.max(0, Math.floor(shareOf(view, ms) * widthPx + 1e-6)));
  place(state, row, msAt(view, (nextEdge(columns, at, direction) + 0.5) / widthPx));
}

function place(state: LaneState, row: number, ms: number): void {
  state.cursor.value = { row, ms };
  state.view.value = reveal(state.view.value, ms);
}
