import { useState } from "preact/hooks";
import { Button } from "../parts/button.tsx";
import { formatBytes } from "../parts/bytes.ts";
import { ProgressLine } from "../parts/progress-line.tsx";
import { formatDuration, formatExact } from "../time/format-time.ts";
import { LineChoice } from "./line-choice.tsx";
import { parseLine } from "./lines.ts";
import { Plot } from "./plot.tsx";
import "./preview.css";
import { move, widen } from "./preview-window.ts";
import type { OpenedSlice } from "./requests.ts";
import type { PreviewSession } from "./session.ts";
import { TopicLook } from "./topic-look.tsx";
import { type LinkTo, type SliceState, useSlice } from "./use-slice.ts";

export interface PreviewChoice {
  readonly topics: readonly string[];
  readonly startNs: bigint;
  readonly endNs: bigint;
  /** As `formatLine` writes them. */
  readonly lines: readonly string[];
}

interface PreviewProps {
  readonly choice: PreviewChoice;
  /** The whole recording. */
  readonly recording: { readonly startNs: bigint; readonly endNs: bigint };
  readonly linkTo: LinkTo;
  readonly onChoose: (changed: Partial<PreviewChoice>) => void;
}

/** Shows what is in a part of a recording: lines of its numbers, pictures, ways, and any message as a tree. */
export function Preview({ choice, recording, linkTo, onChoose }: PreviewProps) {
  const [again, setAgain] = useState(0);
  const slice = useSlice(choice, linkTo, again);
  const { opened, session, problem } = slice;
  return (
    <section class="preview stack" aria-label="Preview">
      <WindowBar {...{ choice, recording, slice, onChoose }} />
      <ProgressLine isOn={slice.isLoading} />
      {problem && (
        <div class="failure row" role="alert">
          <p>{problem}</p>
          <Button text="Try again" class="small" onClick={() => setAgain(again + 1)} />
        </div>
      )}
      {opened && session && <Contents key={String(opened.originNs)} {...{ opened, session, choice, onChoose }} />}
    </section>
  );
}

interface BarProps extends Omit<PreviewProps, "linkTo"> {
  readonly slice: SliceState;
}

/** Says which part is shown, and why not more. */
function WindowBar({ choice, recording, slice: { opened, isLoading, bytes }, onChoose }: BarProps) {
  const whole = recording.endNs - recording.startNs;
  const length = choice.endNs - choice.startNs;
  const isWhole = length >= whole;
  return (
    <div class="row window-bar">
      <Button text="◀" class="small" aria-label="Earlier" onClick={() => onChoose(move(choice, recording, -1n))} />
      <Button text="▶" class="small" aria-label="Later" onClick={() => onChoose(move(choice, recording, 1n))} />
      <p role="status">
        {formatDuration(length)} of {formatDuration(whole)}
        <span class="muted">
          {" "}
          · from +{formatDuration(choice.startNs - recording.startNs)} · {isLoading ? "reading " : ""}
          {formatBytes(bytes)}
        </span>
      </p>
      {!isWhole && <Button text="Widen" class="small" onClick={() => onChoose(widen(choice, recording))} />}
      {opened && <Cut opened={opened} />}
    </div>
  );
}

function Cut({ opened: { end, endNs, topics } }: { opened: OpenedSlice }) {
  if (end === "limit")
    return (
      <p class="preview-note">
        Only the first {formatDuration(BigInt(endNs))} are shown: a page reads no more than that.
      </p>
    );
  if (end === "damage") return <p class="preview-note">The export was interrupted; what came before is shown.</p>;
  return topics.length === 0 ? <p class="preview-note">No message of these topics lies in this part.</p> : null;
}

interface ContentsProps {
  readonly opened: OpenedSlice;
  readonly session: PreviewSession;
  readonly choice: PreviewChoice;
  readonly onChoose: (changed: Partial<PreviewChoice>) => void;
}

function Contents({ opened, session, choice: { lines }, onChoose }: ContentsProps) {
  const [cursorNs, setCursorNs] = useState(0);
  const drawn = lines.map(parseLine).filter((line) => line !== undefined);
  const topics = opened.topics.filter(({ messageCount }) => messageCount > 0);
  if (topics.length === 0) return null;
  return (
    <>
      <Cursor {...{ opened, cursorNs, onChange: setCursorNs }} />
      <Plot {...{ session, lines: drawn, endNs: opened.endNs, cursorNs, onCursor: setCursorNs }} />
      <LineChoice {...{ session, topics, lines, onChange: (chosen) => onChoose({ lines: chosen }) }} />
      {topics.map((topic) => (
        <TopicLook key={topic.topic} {...{ session, topic, cursorNs, onCursor: setCursorNs }} />
      ))}
    </>
  );
}

interface CursorProps {
  readonly opened: OpenedSlice;
  readonly cursorNs: number;
  readonly onChange: (cursorNs: number) => void;
}

const STEPS = 1000;

/** Chooses the moment that pictures, tracks and trees show. */
function Cursor({ opened: { originNs, endNs }, cursorNs, onChange }: CursorProps) {
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
