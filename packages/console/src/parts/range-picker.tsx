import { useEffect, useState } from "preact/hooks";
import { formatSecond, zoneName } from "../time/format-time.ts";
import { isRelative } from "../time/parse-time.ts";
import { readRange, resolveRange, shiftRange, type TypedRange, toAbsolute } from "../time/range.ts";
import { Button } from "./button.tsx";
import { useShortcuts } from "./keys.ts";
import "./range-picker.css";
import { zone } from "../time/zone.ts";

interface PickerProps {
  readonly range: TypedRange;
  readonly onChange: (range: TypedRange) => void;
}

const SPANS = ["24h", "7d", "30d", "1y"] as const;

/** Chooses a range: typed as times, Unix numbers or distances from now; moved by its own length; or one of the usual spans. */
export function RangePicker({ range, onChange }: PickerProps) {
  const shift = (times: number) => onChange(shiftRange(range, times, Date.now()));
  useShortcuts([
    { keys: "[", does: "To the time before", run: () => shift(-1) },
    { keys: "]", does: "To the time after", run: () => shift(1) },
    { keys: "t", does: "Choose a time", run: () => document.querySelector<HTMLElement>("[data-range-from]")?.focus() },
  ]);
  const hasRelative = [range.from, range.to].some((text) => text !== "" && isRelative(text));
  return (
    <div class="range-picker row">
      <Button text="◀" class="small" aria-label="Earlier, by the length of the range" onClick={() => shift(-1)} />
      <RangeFields {...{ range, onChange }} />
      <Button text="▶" class="small" aria-label="Later, by the length of the range" onClick={() => shift(1)} />
      {SPANS.map((span) => (
        <Button
          key={span}
          text={span}
          class="small"
          aria-pressed={range.from === `now-${span}` && range.to === ""}
          onClick={() => onChange({ from: `now-${span}`, to: "" })}
        />
      ))}
      {hasRelative && (
        <Button
          text="make absolute"
          class="small plain"
          title="So that a link to this range shows the same tomorrow"
          onClick={() => onChange(toAbsolute(range, Date.now()))}
        />
      )}
    </div>
  );
}

/** Typed text takes effect once it is entered or the field is left. A text that is no time stays, and is named. */
function RangeFields({ range, onChange }: PickerProps) {
  const zoneOf = zoneName(zone.value);
  const shown = { from: show(range.from, zoneOf), to: show(range.to, zoneOf) };
  const [typed, setTyped] = useState<TypedRange>(shown);
  const [problems, setProblems] = useState<{ from?: string; to?: string }>({});
  useEffect(() => {
    setTyped(shown);
    setProblems({});
  }, [shown.from, shown.to]);
  const commit = () => {
    if (typed.from === shown.from && typed.to === shown.to) return;
    const read = readRange(typed, { zone: zoneOf, nowMs: Date.now() });
    setProblems(read.problems);
    if (read.range) onChange(read.range);
  };
  const field = (end: "from" | "to") => (
    <input
      aria-label={end === "from" ? `From (${zoneOf})` : `To (${zoneOf})`}
      placeholder={end === "from" ? "from" : "to now"}
      {...(end === "from" ? { "data-range-from": true } : {})}
      value={typed[end]}
      aria-invalid={problems[end] !== undefined}
      aria-describedby={problems[end] === undefined ? undefined : `range-${end}`}
      onInput={({ currentTarget }) => setTyped({ ...typed, [end]: currentTarget.value })}
      onBlur={commit}
      onKeyDown={(event) => event.key === "Enter" && commit()}
    />
  );
  return (
    <>
      {field("from")}
      <span aria-hidden="true">–</span>
      {field("to")}
      <span class="muted">{zoneOf}</span>
      {(["from", "to"] as const).map(
        (end) =>
          problems[end] && (
            <p key={end} id={`range-${end}`} class="field-problem" role="alert">
              {problems[end]}
            </p>
          ),
      )}
    </>
  );
}

function show(text: string, zoneOf: string): string {
  if (text === "" || isRelative(text)) return text;
  const { startNs } = resolveRange({ from: text, to: "" }, 0);
  return startNs === undefined ? text : formatSecond(startNs, zoneOf);
}
