import { formatCount } from "../parts/bytes.ts";
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
      <th scope="row" title={name}>
        {name}
      </th>
      {worst !== undefined && <td class={`state-worst level-${worst}`}>{DIAGNOSTIC_LEVELS[worst]}</td>}
      <td class="state-strip">
        <Strip {...{ runs, span, cursorNs }} />
      </td>
      <td title={now?.text}>
        {now?.level !== undefined && <strong class={`level-${now.level}`}>{DIAGNOSTIC_LEVELS[now.level]} </strong>}
        {now?.text}
      </td>
    </tr>
  );
}

/** Worse levels are higher as well as of another colour. */
const HEIGHTS = [4, 9, 16, 16];

function Strip({ runs, span, cursorNs }: Pick<LaneProps, "span" | "cursorNs"> & { runs: readonly StateRun[] }) {
  const texts = [...new Set(runs.map(({ text }) => text))];
  const scale = 1000 / Math.max(1, span.endNs - span.startNs);
  const x = (timeNs: number) => Math.min(1000, Math.max(0, (timeNs - span.startNs) * scale));
  return (
    <svg viewBox="0 0 1000 16" preserveAspectRatio="none" aria-hidden="true">
      {runs.map(({ startNs, text, level }, at) => {
        const height = level === undefined ? 16 : HEIGHTS[level]!;
        const left = x(startNs);
        const width = Math.max(1, x(runs[at + 1]?.startNs ?? span.endNs) - left - 1);
        const tone = level === undefined ? `series-${1 + (texts.indexOf(text) % 8)}` : `level-${level}`;
        return <rect key={startNs} class={`state ${tone}`} x={left} y={16 - height} {...{ width, height }} />;
      })}
      <path class="state-now" d={`M${x(cursorNs)} 0v16`} />
    </svg>
  );
}
