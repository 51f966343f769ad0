import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { formatCount } from "../parts/bytes.ts";
import { ForeignText } from "../parts/foreign-text.tsx";
import { useRowWindow } from "../parts/row-window.ts";
import { Select } from "../parts/select.tsx";
import { showHidden } from "../parts/show-hidden.ts";
import { formatExact, partsOf, toMs, zoneName } from "../time/format-time.ts";
import { zone } from "../time/zone.ts";
import type { LookProps } from "./look-props.ts";
import { placeAt } from "./place-at.ts";
import { LOG_LEVELS, type LogLevel, type LogRow } from "./read-log.ts";
import type { LogLines } from "./requests.ts";
import { useAnswer } from "./use-answer.ts";

/** Shows the lines of a log. That of the moment is marked and kept in sight. */
export function LogLook(props: LookProps) {
  const { answer, problem } = useAnswer(props.session, "log", { topic: props.topic.topic });
  const [least, setLeast] = useState<LogLevel>("INFO");
  const [text, setText] = useState("");
  const rows = useMemo(() => filterRows(answer?.rows ?? [], least, text), [answer, least, text]);
  if (problem) return <p class="view-note">{problem}</p>;
  if (!answer) return null;
  return (
    <div class="log">
      <div class="row log-bar">
        <Select aria-label="Level" class="quiet" value={least} choices={LEVEL_CHOICES} onChange={setLeast} />
        <input
          type="search"
          aria-label="Filter"
          placeholder="Filter…"
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
        <span class="muted">
          {rows.length === answer.rows.length ? "" : `${formatCount(rows.length)} of `}
          {formatCount(answer.rows.length)} lines
        </span>
        <Unread lines={answer} />
      </div>
      <Rows {...props} rows={rows} />
    </div>
  );
}

const LEVEL_CHOICES = LOG_LEVELS.slice(1).map((level) => [level, `≥ ${level}`] as const);

/** A line without a known level is always shown. */
function filterRows(rows: readonly LogRow[], least: LogLevel, text: string): readonly LogRow[] {
  const sought = text.toLowerCase();
  const has = (place: string) => place.toLowerCase().includes(sought);
  return rows.filter(
    ({ level, node, text: line }) =>
      (level === "?" || LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(least)) && (has(line) || has(node)),
  );
}

function Unread({ lines: { leftOut, unreadable, problem } }: { lines: LogLines }) {
  return (
    <>
      {leftOut > 0 && <span class="preview-note">{formatCount(leftOut)} more are not shown</span>}
      {unreadable > 0 && (
        <span class="preview-note">
          {formatCount(unreadable)} cannot be read: {problem}
        </span>
      )}
    </>
  );
}

const ROW_PX = 26;
/** So many lines after that of the moment are in sight, too. */
const AHEAD = 2;

function Rows({ topic: { topic }, rows, originNs, cursorNs, onCursor }: LookProps & { rows: readonly LogRow[] }) {
  const scroller = useRef<HTMLElement>(null);
  const { items, heightPx, scrollTo } = useRowWindow(scroller, rows.length, ROW_PX);
  const at = placeAt(rows, cursorNs, ({ timeNs }) => timeNs);
  useEffect(() => {
    if (rows.length > 0) scrollTo(Math.max(0, Math.min(at + AHEAD, rows.length - 1)));
  }, [at, rows]);
  const abovePx = items[0]?.startPx ?? 0;
  const belowPx = heightPx - abovePx - items.length * ROW_PX;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <section ref={scroller} class="log-rows" aria-label={`Lines of ${topic}`} tabIndex={0}>
      {rows.length === 0 && <p class="view-note">No line matches.</p>}
      <table aria-rowcount={rows.length} style={{ marginTop: `${abovePx}px`, marginBottom: `${belowPx}px` }}>
        <tbody>
          {items.map(({ index }) => (
            <Row key={index} row={rows[index]!} isNow={index === at} {...{ originNs, onCursor }} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

interface RowProps extends Pick<LookProps, "originNs" | "onCursor"> {
  readonly row: LogRow;
  readonly isNow: boolean;
}

function Row({ row: { timeNs, level, node, text }, isNow, originNs, onCursor }: RowProps) {
  const atNs = originNs + BigInt(Math.round(timeNs));
  return (
    <tr class={isNow ? "now" : ""} aria-current={isNow ? "true" : undefined}>
      <td>
        <button type="button" class="plain mono log-time" title={formatExact(atNs)} onClick={() => onCursor(timeNs)}>
          {formatClock(atNs)}
        </button>
      </td>
      <td class={`log-level ${level.toLowerCase()}`}>{level}</td>
      <td class="muted" title={showHidden(node)}>
        <ForeignText text={node} />
      </td>
      <td title={showHidden(text)}>
        <ForeignText text={text} />
      </td>
    </tr>
  );
}

/** Formats the time of day to the millisecond: `09:16:31.198`, in the zone of the page. */
function formatClock(timeNs: bigint): string {
  const ms = toMs(timeNs);
  const { hour, minute, second } = partsOf(ms, zoneName(zone.value));
  return `${hour}:${minute}:${second}.${String(((ms % 1000) + 1000) % 1000).padStart(3, "0")}`;
}
