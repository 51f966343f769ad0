import { formatExact } from "../time/format-time.ts";
import type { OpenedSlice } from "./requests.ts";

interface CursorProps {
  readonly opened: OpenedSlice;
  readonly cursorNs: number;
  readonly onChange: (cursorNs: number) => void;
}

const STEPS = 1000;

/** Chooses the moment that pictures, tracks and trees show. */
export function Cursor({ opened: { originNs, endNs }, cursorNs, onChange }: CursorProps) {
  const atNs = originNs + BigInt(Math.round(cursorNs));
  return (
    <div class="row cursor">
      <input
        type="range"
        aria-label="Moment"
        aria-valuetext={`${(cursorNs / 1e9).toFixed(3)} s`}
        min={0}
        max={Math.max(endNs, 1)}
        step={Math.max(1, Math.floor(endNs / STEPS))}
        value={cursorNs}
        onInput={({ currentTarget }) => onChange(Number(currentTarget.value))}
      />
      <output class="mono nowrap" title={formatExact(atNs)}>
        +{(cursorNs / 1e9).toFixed(3)} s
      </output>
    </div>
  );
}
