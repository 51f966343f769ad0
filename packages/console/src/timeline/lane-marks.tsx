import type { LaneState } from "./lane-state.ts";
import { shareOf } from "./view.ts";

interface MarksProps {
  readonly state: LaneState;
  readonly rowPx: number;
}

/** Shows the cursor and the selection, above the picture. They move without the rest of the page. */
export function LaneMarks({ state, rowPx }: MarksProps) {
  const view = state.view.value;
  const cursor = state.cursor.value;
  const selection = state.selection.value;
  const percent = (ms: number) => Math.min(Math.max(shareOf(view, ms), 0), 1) * 100;
  return (
    <>
      <div
        class="lane-cursor"
        style={{ left: `${percent(cursor.ms)}%`, top: `${cursor.row * rowPx}px`, height: `${rowPx}px` }}
      />
      {selection && (
        <div
          class="lane-selection"
          style={{
            left: `${percent(selection.fromMs)}%`,
            width: `${percent(selection.toMs) - percent(selection.fromMs)}%`,
            top: `${selection.firstRow * rowPx}px`,
            height: `${(selection.lastRow - selection.firstRow + 1) * rowPx}px`,
          }}
        />
      )}
    </>
  );
}
