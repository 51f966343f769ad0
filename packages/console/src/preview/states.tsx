import { useMemo } from "preact/hooks";
import { formatCount } from "../parts/bytes.ts";
import { ForeignText } from "../parts/foreign-text.tsx";
import { showHidden } from "../parts/show-hidden.ts";
import { DIAGNOSTIC_LEVELS, type StateLane, type StateRun } from "./collect-states.ts";
import type { LookProps, Span } from "./look-props.ts";
import { placeAt } from "./place-at.ts";
import { Tree } from "./tree.tsx";
import { useAnswer } from "./use-answer.ts";

/** Shows states over time: diagnostics by name, the worst first, or the texts of a topic. A topic without any shows its messages. */
export function StatesLook(props: LookProps) {
  const { session, topic, span, cursorNs } = props;
  const { answer, problem } = useAnswer(session, "states", { topic: topic.topic });
  if (problem) return <p class="view-note">{problem}</p>;
  if (!answer) return null;
  if (answer.lanes.length === 0) return <Tree {...props} />;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <section class="states" aria-label={`States of ${topic.topic}`} tabIndex={0}>
      {answer.leftOut > 0 && <p class="preview-note">{formatCount(answer.leftOut)} changes are not shown.</p>}
      {answer.unreadable > 0 && (
        <p class="preview-note">
          {formatCount(answer.unreadable)} messages cannot be read: {answer.problem}
        </p>
      )}
      <table>
        <tbody>
          {answer.lanes.map((lane) => (
            <Lane key={lane.name} {...{ lane, span, cursorNs }} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

interface LaneProps {
  readonly lane: StateLane;
  readonly span: Span;
  readonly cursorNs: number;
}

function Lane({ lane: { name, runs, worst }, span, cursorNs }: LaneProps) {
  const now = runs[placeAt(runs, cursorNs, ({ startNs }) => startNs)];
  return (
    <tr>
      <th scope="row" title={showHidden(name)}>
        <ForeignText text={name} />
      </th>
      {worst !== undefined && <td class={`state-worst level-${worst}`}>{DIAGNOSTIC_LEVELS[worst]}</td>}
      <td class="state-strip">
        <Strip {...{ runs, span, cursorNs }} />
      </td>
      <td title={now && showHidden(now.text)}>
        {now?.level !== undefined && <strong class={`level-${now.level}`}>{DIAGNOSTIC_LEVELS[now.level]} </strong>}
        {now && <ForeignText text={now.text} />}
      </td>
    </tr>
  );
}

/** Worse levels are higher as well as of another colour. */
const HEIGHTS = [4, 9, 16, 16];

function Strip({ runs, span, cursorNs }: Pick<LaneProps, "span" | "cursorNs"> & { runs: readonly StateRun[] }) {
  // The runs are not drawn again while the moment moves.
  const drawn = useMemo(() => drawRuns(runs, span), [runs, span.startNs, span.endNs]);
  return (
    <svg viewBox="0 0 1000 16" preserveAspectRatio="none" aria-hidden="true">
      {drawn}
      <path class="state-now" d={`M${placeOf(cursorNs, span)} 0v16`} />
    </svg>
  );
}

function placeOf(timeNs: number, { startNs, endNs }: Span): number {
  return Math.min(1000, Math.max(0, ((timeNs - startNs) * 1000) / Math.max(1, endNs - startNs)));
}

function drawRuns(runs: readonly StateRun[], span: Span) {
  const numbers = new Map<string, number>();
  for (const { text } of runs) if (!numbers.has(text)) numbers.set(text, numbers.size);
  return runs.map(({ startNs, text, level }, at) => {
    const height = level === undefined ? 16 : HEIGHTS[level]!;
    const left = placeOf(startNs, span);
    const width = Math.max(1, placeOf(runs[at + 1]?.startNs ?? span.endNs, span) - left - 1);
    const tone = level === undefined ? `series-${1 + (numbers.get(text)! % 8)}` : `level-${level}`;
    return <rect key={startNs} class={`state ${tone}`} x={left} y={16 - height} {...{ width, height }} />;
  });
}
