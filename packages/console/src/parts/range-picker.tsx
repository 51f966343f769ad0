import { useEffect, useId, useRef, useState } from "preact/hooks";
import { formatSecond, zoneName } from "../time/format-time.ts";
import { isRelative } from "../time/parse-time.ts";
import { nameRange, readRange, resolveRange, shiftRange, type TypedRange, toAbsolute } from "../time/range.ts";
import { Button } from "./button.tsx";
import { useShortcuts } from "./keys.ts";
import "./range-picker.css";
import { zone } from "../time/zone.ts";

interface PickerProps {
  readonly range: TypedRange;
  readonly onChange: (range: TypedRange) => void;
  /** Whether a range without ends is offered: a list can show all time, and lanes cannot. */
  readonly hasAll?: boolean;
}

const SPANS = [
  ["24h", "Last 24 hours"],
  ["7d", "Last 7 days"],
  ["14d", "Last 14 days"],
  ["30d", "Last 30 days"],
  ["90d", "Last 90 days"],
  ["1y", "Last year"],
] as const;

/** Chooses a range: one of the usual spans, by a calendar, or typed as times, Unix numbers or distances from now. It is moved by its own length. */
export function RangePicker({ range, onChange, hasAll = false }: PickerProps) {
  const id = useId();
  const panel = useRef<HTMLDivElement>(null);
  const shift = (times: number) => onChange(shiftRange(range, times, Date.now()));
  useShortcuts([
    { keys: "[", does: "To the time before", run: () => shift(-1) },
    { keys: "]", does: "To the time after", run: () => shift(1) },
    { keys: "t", does: "Choose a time", run: () => panel.current?.showPopover() },
  ]);
  const choose = (chosen: TypedRange) => {
    panel.current?.hidePopover();
    onChange(chosen);
  };
  const onToggle = ({ newState }: { readonly newState: string }) => {
    if (newState === "open") panel.current?.querySelector<HTMLElement>("[data-range-from]")?.focus();
  };
  return (
    <div class="range-picker">
      <Button text="‹" class="plain" aria-label="Earlier, by the length of the range" onClick={() => shift(-1)} />
      <button type="button" class="range-name" aria-haspopup="dialog" {...{ popovertarget: id }}>
        {nameRange(range, zoneName(zone.value)) ?? SPANS.find(([span]) => isSpan(range, span))?.[1] ?? range.from}
        <span aria-hidden="true">▾</span>
      </button>
      <Button text="›" class="plain" aria-label="Later, by the length of the range" onClick={() => shift(1)} />
      <div {...{ id, ref: panel, onToggle }} popover="auto" role="dialog" aria-label="Range of time">
        <ul>
          {hasAll && (
            <li>
              <Button
                text="All time"
                class="plain"
                aria-pressed={range.from === "" && range.to === ""}
                onClick={() => choose({ from: "", to: "" })}
              />
            </li>
          )}
          {SPANS.map(([span, text]) => (
            <li key={span}>
              <Button
                text={text}
                class="plain"
                aria-pressed={isSpan(range, span)}
                onClick={() => choose({ from: `now-${span}`, to: "" })}
              />
            </li>
          ))}
        </ul>
        <RangeFields {...{ range, onChange }} />
      </div>
    </div>
  );
}

function isSpan({ from, to }: TypedRange, span: string): boolean {
  return from === `now-${span}` && to === "";
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
  const commit = (given: TypedRange) => {
    setTyped(given);
    if (given.from === shown.from && given.to === shown.to) return;
    const read = readRange(given, { zone: zoneOf, nowMs: Date.now() });
    setProblems(read.problems);
    if (read.range) onChange(read.range);
  };
  const hasRelative = [range.from, range.to].some((text) => text !== "" && isRelative(text));
  return (
    <div class="range-fields">
      {(["from", "to"] as const).map((end) => (
        <RangeEnd key={end} {...{ end, typed, zoneOf, problem: problems[end], onType: setTyped, onCommit: commit }} />
      ))}
      <p class="muted">A time, a Unix number, or a distance such as now-2h. Times are in {zoneOf}.</p>
      {hasRelative && (
        <Button
          text="Fix to these times"
          class="small"
          title="So that a link to this range shows the same tomorrow"
          onClick={() => onChange(toAbsolute(range, Date.now()))}
        />
      )}
    </div>
  );
}

interface EndProps {
  readonly end: "from" | "to";
  readonly typed: TypedRange;
  readonly zoneOf: string;
  readonly problem: string | undefined;
  readonly onType: (typed: TypedRange) => void;
  readonly onCommit: (typed: TypedRange) => void;
}

const END_OF_DAY = " 23:59:59";

function RangeEnd({ end, typed, zoneOf, problem, onType, onCommit }: EndProps) {
  const name = end === "from" ? "From" : "To";
  const onDay = (day: string) => day && onCommit({ ...typed, [end]: end === "from" ? day : day + END_OF_DAY });
  return (
    <div class="range-end">
      <label>
        {name}
        <input
          aria-label={`${name} (${zoneOf})`}
          placeholder={end === "from" ? "the start of all" : "now"}
          {...(end === "from" ? { "data-range-from": true } : {})}
          value={typed[end]}
          aria-invalid={problem !== undefined}
          aria-describedby={problem === undefined ? undefined : `range-${end}`}
          onInput={({ currentTarget }) => onType({ ...typed, [end]: currentTarget.value })}
          onBlur={() => onCommit(typed)}
          onKeyDown={(event) => event.key === "Enter" && onCommit(typed)}
        />
      </label>
      <span class="range-calendar">
        <CalendarSign />
        <input
          type="date"
          aria-label={`${name}, by the calendar`}
          value={/^\d{4}-\d\d-\d\d/.exec(typed[end])?.[0] ?? ""}
          onClick={({ currentTarget }) => currentTarget.showPicker()}
          onChange={({ currentTarget }) => onDay(currentTarget.value)}
        />
      </span>
      {problem && (
        <p id={`range-${end}`} class="field-problem" role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}

/** Browsers draw different signs on such a field, or none where it is small. */
function CalendarSign() {
  return (
    <svg
      aria-hidden="true"
      viewBox="0 0 16 16"
      width="16"
      height="16"
      fill="none"
      stroke="currentColor"
      stroke-width="1.5"
    >
      <path d="M2 3.5h12v10.5H2zM2 7h12M5 1.5v3M11 1.5v3" />
    </svg>
  );
}

function show(text: string, zoneOf: string): string {
  if (text === "" || isRelative(text)) return text;
  const { startNs } = resolveRange({ from: text, to: "" }, 0);
  return startNs === undefined ? text : formatSecond(startNs, zoneOf);
}
