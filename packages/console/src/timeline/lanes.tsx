import { useSignalEffect } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { useKeptScroll } from "../browser/entry-state.ts";
import { useWidth } from "../browser/use-width.ts";
import { formatSecond, type ZoneName } from "../time/format-time.ts";
import { Axis, NowLine, TickLines } from "./axis.tsx";
import { type Act, pressKey } from "./lane-actions.ts";
import { columnsOf } from "./lane-canvas.ts";
import { LaneMarks } from "./lane-marks.tsx";
import type { ChangingSource, LaneState } from "./lane-state.ts";
import "./lanes.css";
import { describeCell } from "./state-words.ts";
import { useLaneCanvas } from "./use-lane-canvas.ts";
import { useLaneGestures } from "./use-lane-gestures.ts";
import { shareOf, toNs } from "./view.ts";

export interface LanesProps {
  readonly label: string;
  readonly state: LaneState;
  readonly source: ChangingSource;
  readonly count: number;
  readonly rowPx: number;
  readonly zone: ZoneName;
  readonly nowMs: number;
  /** The link that stands at the start of a row. */
  readonly nameAt: (row: number) => ComponentChildren;
  /** The name of a row for screen readers. */
  readonly textAt: (row: number) => string;
  readonly onAct: (act: Act) => void;
  /** The controls above the names. */
  readonly controls?: ComponentChildren;
  /** The card that stands beside the pointer. */
  readonly card?: ComponentChildren;
}

/** Rows over time. They are painted; their names are links, and a line of text says what is at the cursor. */
export function Lanes(props: LanesProps) {
  const { label, state, source, count, rowPx, zone, nowMs, onAct } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const bars = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const statusId = useId();
  const widthPx = useWidth(bars);
  const drawn = useLaneCanvas({ scroller, canvas, state, source, count, rowPx });
  useLaneGestures({ bars, state, source, count, rowPx, onAct });
  useCursorInSight(scroller, props);
  useKeptScroll(scroller, { key: "lanes", isReady: true });
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== scroller.current) return;
    const widthPx = Math.max(1, bars.current!.clientWidth);
    if (pressKey(event, { state, source, count, widthPx, onAct })) event.preventDefault();
  };
  return (
    <div class="lanes">
      <section
        ref={scroller}
        class="lanes-scroller"
        data-scroller
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard, and arrows move its cursor
        tabIndex={0}
        aria-label={label}
        aria-describedby={statusId}
        {...{ onKeyDown }}
      >
        <div class="lanes-head">
          <span class="lanes-zone">
            <span class="muted">{zone}</span>
            {props.controls}
          </span>
          <Axis view={state.view} zone={zone} widthPx={widthPx} />
        </div>
        <div class="lanes-body" style={{ height: `${count * rowPx}px` }}>
          <Names {...props} first={drawn.value.firstRow} end={drawn.value.endRow} />
          <div class="lanes-bars" ref={bars}>
            {/* biome-ignore lint/a11y/noAriaHiddenOnFocusable: a canvas takes no focus; what it shows is spoken below */}
            <canvas ref={canvas} aria-hidden="true" />
            <NowLine view={state.view} nowMs={nowMs} />
            <TickLines view={state.view} zone={zone} widthPx={widthPx} />
            <LaneMarks {...{ state, rowPx }} />
          </div>
          {props.card && <div class="lanes-cards">{props.card}</div>}
        </div>
      </section>
      <CursorStatus {...props} id={statusId} bars={bars} />
    </div>
  );
}

const LEAST_NAME_PX = 14;

/** Rows that are too thin for a name have none; the line below says which one the cursor is in. */
function Names({ first, end, rowPx, nameAt }: LanesProps & { first: number; end: number }) {
  if (rowPx < LEAST_NAME_PX) return <div class="lanes-names" />;
  return (
    <ul class="lanes-names">
      {Array.from({ length: end - first }, (_, at) => first + at).map((row) => (
        <li key={row} style={{ top: `${row * rowPx}px`, height: `${rowPx}px` }}>
          {nameAt(row)}
        </li>
      ))}
    </ul>
  );
}

const QUIET_MS = 300;

interface StatusProps extends LanesProps {
  readonly id: string;
  readonly bars: { readonly current: HTMLDivElement | null };
}

/** Speaks where the cursor is once it rests. It writes the text itself, because nothing else of the page changes with it. */
function CursorStatus({ id, bars, state, source, count, zone, textAt }: StatusProps) {
  const line = useRef<HTMLParagraphElement>(null);
  useSignalEffect(() => {
    const [{ row, ms }, view] = [state.cursor.value, state.view.value];
    source.version.value;
    const timer = setTimeout(() => {
      if (!line.current || row >= count) return;
      const widthPx = Math.max(1, bars.current?.clientWidth ?? 1);
      const px = Math.min(widthPx - 1, Math.max(0, Math.floor(shareOf(view, ms) * widthPx)));
      const cell = columnsOf(row, { view, widthPx }, source)[px]!;
      line.current.textContent = `${textAt(row)}, ${formatSecond(toNs(view, ms), zone)} ${zone}: ${describeCell(cell)}`;
    }, QUIET_MS);
    return () => clearTimeout(timer);
  });
  return <p id={id} ref={line} class="lanes-status muted" role="status" />;
}

/** The row of the cursor is scrolled into sight when keys move it. */
function useCursorInSight(scroller: { readonly current: HTMLDivElement | null }, { state, rowPx }: LanesProps): void {
  const before = useRef(0);
  useEffect(
    () =>
      state.cursor.subscribe(({ row }) => {
        const box = scroller.current;
        if (!box || row === before.current) return;
        before.current = row;
        const headPx = 28;
        const roomPx = box.clientHeight - headPx - rowPx;
        if (row * rowPx < box.scrollTop) box.scrollTop = row * rowPx;
        else if (row * rowPx > box.scrollTop + roomPx) box.scrollTop = row * rowPx - roomPx;
      }),
    [state, rowPx],
  );
}
