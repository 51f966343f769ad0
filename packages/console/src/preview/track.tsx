import { formatCount } from "../parts/bytes.ts";
import type { LookProps } from "./look-props.ts";
import { scaleBarMetres, type Track } from "./make-track.ts";
import { useAnswer } from "./use-answer.ts";

const SIZE = 300;
const EDGE = 16;

/** Draws the track of the positions, north up, without a map: that would need another provider's server. */
export function TrackLook({ session, topic: { topic }, cursorNs }: LookProps) {
  const { answer, problem } = useAnswer(session, "track", { topic });
  if (problem) return <p class="muted">{problem}</p>;
  if (!answer) return null;
  const { track } = answer;
  if (track.fixCount === 0) return <p class="muted">None of its messages has a position.</p>;
  return (
    <figure class="stack">
      <Way {...{ track, cursorNs, topic }} />
      <figcaption class="muted">
        {formatCount(track.fixCount)} positions, {formatMetres(track.lengthMetres)}
      </figcaption>
    </figure>
  );
}

function Way({ track: { lines, bounds }, cursorNs, topic }: { track: Track; cursorNs: number; topic: string }) {
  const sizeMetres = Math.max(bounds.east - bounds.west, bounds.north - bounds.south, 1);
  const scale = (SIZE - 2 * EDGE) / sizeMetres;
  const x = (east: number) => EDGE + (east - bounds.west) * scale;
  const y = (north: number) => EDGE + (bounds.north - north) * scale;
  const bar = scaleBarMetres(sizeMetres);
  const points = lines.flat();
  const here = points.findLast(({ timeNs }) => timeNs <= cursorNs) ?? points[0]!;
  return (
    <svg class="track" viewBox={`0 0 ${SIZE} ${SIZE + 24}`} role="img" aria-label={`Track of ${topic}`}>
      {lines.map((line) => (
        <polyline key={line[0]!.timeNs} points={line.map(({ east, north }) => `${x(east)},${y(north)}`).join(" ")} />
      ))}
      <circle class="track-here" cx={x(here.east)} cy={y(here.north)} r={5} />
      <path class="track-bar" d={`M${EDGE} ${SIZE + 4}v6h${bar * scale}v-6`} />
      <text x={EDGE + bar * scale + 6} y={SIZE + 12}>
        {formatMetres(bar)}
      </text>
    </svg>
  );
}

function formatMetres(metres: number): string {
  if (metres >= 1000) return `${Number((metres / 1000).toPrecision(3))} km`;
  return metres >= 0.1 ? `${Number(metres.toPrecision(3))} m` : `${Number((metres * 1000).toPrecision(3))} mm`;
}
