import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import { Button } from "../parts/button.tsx";
import { formatBytes } from "../parts/bytes.ts";
import { Select } from "../parts/select.tsx";
import { formatDuration, formatExact } from "../time/format-time.ts";
import { drawDensity } from "./density.ts";
import { type FilmEvent, FilmEvents } from "./film-events.tsx";
import { formatOffset } from "./format-offset.ts";
import { type Player, SPEEDS } from "./player.ts";
import { move, moveTo, type Span, widen } from "./preview-window.ts";

interface FilmProps {
  readonly recording: Span;
  readonly window: Span;
  readonly momentNs: bigint;
  readonly player: Player;
  /** How dense messages are in equal parts, from 0 to 1: in the window, and in the whole recording. */
  readonly density: readonly number[];
  readonly wholeDensity: readonly number[];
  readonly events: readonly FilmEvent[];
  readonly pictures: ComponentChildren;
  /** The bytes that were read so far; undefined when all are here. */
  readonly readingBytes: number | undefined;
  readonly onMoment: (momentNs: bigint) => void;
  readonly onWindow: (window: Span) => void;
  /** Makes an event of the moment; undefined where the user may not. */
  readonly onMark: (() => void) | undefined;
}

/** Plays a part of a recording, and chooses the moment in it and the part itself. */
export function Film(props: FilmProps) {
  const { recording, window, momentNs, player, onMark } = props;
  const isWhole = window.startNs <= recording.startNs && window.endNs >= recording.endNs;
  return (
    <div class="film-bar">
      <PlayButton {...player} />
      <div class="film-strips">
        {!isWhole && <WholeStrip {...props} />}
        <Strip {...props} />
      </div>
      <span class="film-moment nowrap" title={formatExact(momentNs)}>
        <strong>+{formatOffset(secondsOf(momentNs - recording.startNs), 1)}</strong>{" "}
        <span class="muted">of {formatOffset(secondsOf(recording.endNs - recording.startNs))}</span>
      </span>
      <Select
        aria-label="Speed"
        class="film-speed"
        value={player.speed}
        choices={SPEEDS.map((speed) => [speed, `${speed}×`] as const)}
        onChange={player.setSpeed}
      />
      {onMark && (
        <Button text="Mark" class="small" title="e" aria-label="Mark an event at this moment" onClick={onMark} />
      )}
      <WindowChoice {...props} isWhole={isWhole} />
    </div>
  );
}

function PlayButton({ isPlaying, toggle }: Player) {
  return (
    <button type="button" class="play" aria-label={isPlaying ? "Pause" : "Play"} title="Space" onClick={toggle}>
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <path d={isPlaying ? "M4 3h3v10H4zM9 3h3v10H9z" : "M5 3v10l8-5z"} />
      </svg>
    </button>
  );
}

const STEPS = 1000;

/** The window, over which the moment is moved. */
function Strip({ window, recording, momentNs, density, events, pictures, onMoment }: FilmProps) {
  const { startNs, endNs } = window;
  const lengthNs = Math.max(1, Number(endNs - startNs));
  const atNs = Number(momentNs - startNs);
  return (
    <div class="film">
      {pictures}
      <Bars density={density} />
      <div class="film-now" style={{ left: `${(100 * atNs) / lengthNs}%` }} />
      <input
        type="range"
        aria-label="Moment"
        aria-valuetext={formatOffset(secondsOf(momentNs - recording.startNs), 1)}
        min={0}
        max={lengthNs}
        step={Math.max(1, Math.floor(lengthNs / STEPS))}
        value={atNs}
        onInput={({ currentTarget }) => onMoment(startNs + BigInt(Math.round(Number(currentTarget.value))))}
      />
      <FilmEvents {...{ events, window, onMoment }} />
    </div>
  );
}

/** The whole recording, over which the window is moved. It is read when it is let go. */
function WholeStrip({ window, recording, wholeDensity, onWindow }: FilmProps) {
  const [dragged, setDragged] = useState<Span | undefined>();
  const wholeNs = Math.max(1, Number(recording.endNs - recording.startNs));
  const { startNs, endNs } = dragged ?? window;
  const middleNs = Number(startNs - recording.startNs) + Number(endNs - startNs) / 2;
  const around = (value: string) => moveTo(window, recording, recording.startNs + BigInt(Math.round(Number(value))));
  return (
    <div class="film-whole">
      <Bars density={wholeDensity} />
      <div
        class="film-window"
        style={{
          left: `${(100 * Number(startNs - recording.startNs)) / wholeNs}%`,
          width: `${(100 * Number(endNs - startNs)) / wholeNs}%`,
        }}
      />
      <input
        type="range"
        aria-label="Part of the recording"
        aria-valuetext={`from ${formatOffset(secondsOf(startNs - recording.startNs))}`}
        min={0}
        max={wholeNs}
        step={Math.max(1, Math.floor(Number(endNs - startNs) / 2))}
        value={middleNs}
        onInput={({ currentTarget }) => setDragged(around(currentTarget.value))}
        onChange={({ currentTarget }) => {
          setDragged(undefined);
          onWindow(around(currentTarget.value));
        }}
      />
    </div>
  );
}

function Bars({ density }: { density: readonly number[] }) {
  // They are not drawn again while the moment moves.
  const path = useMemo(() => drawDensity(density), [density]);
  return (
    <svg viewBox={`0 0 ${Math.max(1, density.length)} 1`} preserveAspectRatio="none" aria-hidden="true">
      <path d={path} />
    </svg>
  );
}

interface WindowProps extends FilmProps {
  readonly isWhole: boolean;
}

/** Says which part is shown, and leads to another one. */
function WindowChoice({ window, recording, isWhole, readingBytes, onWindow }: WindowProps) {
  const [length, whole] = [window, recording].map(({ startNs, endNs }) => formatDuration(endNs - startNs));
  return (
    <span class="row film-part">
      {!isWhole && (
        <Button text="‹" class="small" aria-label="Earlier" onClick={() => onWindow(move(window, recording, -1n))} />
      )}
      <span role="status" class="muted nowrap">
        {readingBytes !== undefined && readingBytes > 0
          ? `reading, ${formatBytes(readingBytes)}`
          : `${length} of ${whole}`}
      </span>
      {!isWhole && (
        <>
          <Button text="›" class="small" aria-label="Later" onClick={() => onWindow(move(window, recording, 1n))} />
          <Button text="Widen" class="small" onClick={() => onWindow(widen(window, recording))} />
        </>
      )}
    </span>
  );
}

function secondsOf(durationNs: bigint): number {
  return Number(durationNs) / 1e9;
}
