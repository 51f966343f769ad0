import { useMemo, useState } from "preact/hooks";
import { Button } from "../parts/button.tsx";
import { useShortcuts } from "../parts/keys.ts";
import type { Camera } from "../parts/picture-at.tsx";
import { ProgressLine } from "../parts/progress-line.tsx";
import { formatDuration } from "../time/format-time.ts";
import type { KnownTopic } from "./choose-views.ts";
import { measureDensity } from "./density.ts";
import { Film } from "./film.tsx";
import type { FilmEvent } from "./film-events.tsx";
import { FilmPictures } from "./film-pictures.tsx";
import type { LookProps } from "./look-props.ts";
import { usePlayer } from "./player.ts";
import "./preview.css";
import { clamp, type PreviewChoice, type Span } from "./preview-window.ts";
import type { OpenedSlice } from "./requests.ts";
import { useKeptMoment } from "./use-kept-moment.ts";
import { type LinkTo, type SliceState, useSlice } from "./use-slice.ts";
import { Views } from "./views.tsx";

interface PreviewProps {
  readonly choice: PreviewChoice;
  /** The topics that have messages. */
  readonly known: readonly KnownTopic[];
  /** The whole recording, and how dense its messages are in equal parts of it, from 0 to 1. */
  readonly recording: Span;
  readonly density: readonly number[];
  readonly events: readonly FilmEvent[];
  /** Pictures of the recording that are known before anything is read. */
  readonly cameras: readonly Camera[];
  readonly linkTo: LinkTo;
  /** The moment that is looked at first; undefined for the first one. */
  readonly firstNs: bigint | undefined;
  readonly onChoose: (changed: Partial<PreviewChoice>) => void;
  /** Makes an event of a moment; undefined where the user may not. */
  readonly onMark: ((momentNs: bigint) => void) | undefined;
}

/** Shows up to four topics of a part of a recording at one moment. */
export function Preview(props: PreviewProps) {
  const { choice, known, recording, density, events, cameras, linkTo, firstNs, onChoose, onMark } = props;
  const [again, setAgain] = useState(0);
  const slice = useSlice(choice, linkTo, again);
  const [chosenNs, setMoment] = useKeptMoment(choice, firstNs);
  const momentNs = clamp(chosenNs, choice);
  const window = { startNs: choice.startNs, endNs: choice.endNs };
  const at = { momentNs, recordingNs: recording.startNs, window, onMoment: setMoment };
  const player = usePlayer({ ...window, momentNs, onMoment: setMoment });
  const mark = onMark && (() => onMark(momentNs));
  useShortcuts(mark ? [{ keys: "e", does: "Mark an event at this moment", run: mark }] : []);
  const { problem, opened, isLoading, bytes } = slice;
  const lookOf = lookIn(slice, at);
  const camera = choice.topics.map((name) => lookOf(name).look).find((look) => look?.topic.kind === "image");
  const hasPictures = camera !== undefined || cameras.some(({ topic }) => choice.topics.includes(topic));
  return (
    <section class="preview stack" aria-label="Views">
      <ProgressLine isOn={isLoading} />
      {problem && (
        <div class="failure row" role="alert">
          <p>{problem}</p>
          <Button text="Try again" class="small" onClick={() => setAgain(again + 1)} />
        </div>
      )}
      {opened && <Cut opened={opened} />}
      <Views {...{ choice, known, onChoose, lookOf }} />
      <Film
        {...{ recording, window, momentNs, player, events, onMoment: setMoment, onWindow: onChoose, onMark: mark }}
        pictures={hasPictures && <FilmPictures {...{ window, topics: choice.topics, cameras, look: camera }} />}
        density={useDensity(opened, window)}
        wholeDensity={density}
        readingBytes={isLoading ? bytes : undefined}
      />
    </section>
  );
}

const COLUMNS = 240;

function useDensity(opened: OpenedSlice | undefined, { startNs, endNs }: Span): readonly number[] {
  return useMemo(() => {
    if (!opened) return [];
    const span = { startNs: Number(startNs - opened.originNs), endNs: Number(endNs - opened.originNs) };
    return measureDensity(
      opened.topics.map(({ timesNs }) => timesNs),
      span,
      COLUMNS,
    );
  }, [opened, startNs, endNs]);
}

/** Says why there is less to see than was chosen. */
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
  readonly window: Span;
  readonly onMoment: (momentNs: bigint) => void;
}
