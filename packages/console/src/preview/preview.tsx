import { useState } from "preact/hooks";
import { Button } from "../parts/button.tsx";
import { formatBytes } from "../parts/bytes.ts";
import { ProgressLine } from "../parts/progress-line.tsx";
import { formatDuration, formatExact } from "../time/format-time.ts";
import type { KnownTopic } from "./choose-views.ts";
import { formatOffset } from "./format-offset.ts";
import type { LookProps } from "./look-props.ts";
import "./preview.css";
import { clamp, move, type PreviewChoice, widen } from "./preview-window.ts";
import type { OpenedSlice } from "./requests.ts";
import { type LinkTo, type SliceState, useSlice } from "./use-slice.ts";
import { Views } from "./views.tsx";

interface PreviewProps {
  readonly choice: PreviewChoice;
  /** The topics that have messages. */
  readonly known: readonly KnownTopic[];
  /** The whole recording. */
  readonly recording: { readonly startNs: bigint; readonly endNs: bigint };
  readonly linkTo: LinkTo;
  readonly onChoose: (changed: Partial<PreviewChoice>) => void;
}

/** Shows up to four topics of a part of a recording at one moment. */
export function Preview({ choice, known, recording, linkTo, onChoose }: PreviewProps) {
  const [again, setAgain] = useState(0);
  const slice = useSlice(choice, linkTo, again);
  const [chosenNs, setMoment] = useState(choice.startNs);
  const momentNs = clamp(chosenNs, choice);
  const at = { momentNs, recordingNs: recording.startNs, window: choice, onMoment: setMoment };
  return (
    <section class="preview stack" aria-label="Views">
      <ProgressLine isOn={slice.isLoading} />
      {slice.problem && (
        <div class="failure row" role="alert">
          <p>{slice.problem}</p>
          <Button text="Try again" class="small" onClick={() => setAgain(again + 1)} />
        </div>
      )}
      <Views {...{ choice, known, onChoose, lookOf: lookIn(slice, at) }} />
      <WindowBar {...{ choice, recording, slice, onChoose }} />
      <Cursor {...at} />
    </section>
  );
}

interface BarProps extends Omit<PreviewProps, "known" | "linkTo"> {
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

/** Returns how a topic is looked at in the slice that was read. */
function lookIn({ opened, session, problem, isLoading }: SliceState, at: Moment) {
  return (name: string): { look?: LookProps; note?: string } => {
    if (problem !== undefined) return { note: "It could not be read." };
    const topic = opened?.topics.find((one) => one.topic === name);
    if (!opened || !session || (!topic && isLoading)) return {};
    if (!topic || topic.messageCount === 0) return { note: "It has no message in this part of the recording." };
    const { originNs } = opened;
    const after = (timeNs: bigint) => Number(timeNs - originNs);
    const look = {
      ...{ session, topic, originNs, offsetNs: -after(at.recordingNs), cursorNs: after(at.momentNs) },
      span: { startNs: after(at.window.startNs), endNs: after(at.window.endNs) },
      onCursor: (cursorNs: number) => at.onMoment(originNs + BigInt(Math.round(cursorNs))),
    };
    return { look };
  };
}

interface Moment {
  readonly momentNs: bigint;
  /** When the recording begins. */
  readonly recordingNs: bigint;
  readonly window: Pick<PreviewChoice, "startNs" | "endNs">;
  readonly onMoment: (momentNs: bigint) => void;
}

const STEPS = 1000;

/** Chooses the moment that the views show. */
function Cursor({ momentNs, recordingNs, window: { startNs, endNs }, onMoment }: Moment) {
  const [lengthNs, cursorNs] = [Number(endNs - startNs), Number(momentNs - startNs)];
  const text = formatOffset(Number(momentNs - recordingNs) / 1e9, 1);
  return (
    <div class="row cursor">
      <input
        type="range"
        aria-label="Moment"
        aria-valuetext={text}
        min={0}
        max={Math.max(lengthNs, 1)}
        step={Math.max(1, Math.floor(lengthNs / STEPS))}
        value={cursorNs}
        onInput={({ currentTarget }) => onMoment(startNs + BigInt(Math.round(Number(currentTarget.value))))}
      />
      <output class="mono nowrap" title={formatExact(momentNs)}>
        +{text}
      </output>
    </div>
  );
}
