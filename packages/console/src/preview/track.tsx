import { useRef } from "preact/hooks";
import { formatCount } from "../parts/bytes.ts";
import type { LookProps } from "./look-props.ts";
import { scaleBarMetres, type Track, type TrackPoint } from "./make-track.ts";
import "./track.css";
import { useAnswer } from "./use-answer.ts";
import { useSize } from "./use-size.ts";

const EDGE_PX = 32;

/** Draws the track of the positions, north up, without a map: that would need another provider's server. */
export function TrackLook({ session, topic: { topic }, cursorNs }: LookProps) {
  const { answer, problem } = useAnswer(session, "track", { topic });
  if (problem) return <p class="view-note">{problem}</p>;
  const track = answer?.track;
  if (track?.fixCount === 0) return <p class="view-note">None of its messages has a position.</p>;
  return <TrackFigure {...{ track, cursorNs, topic }} />;
}

interface FigureProps {
  /** Undefined while it is read. */
  readonly track: Track | undefined;
  readonly cursorNs: number;
  readonly topic: string;
  /** By default how many positions it has, and how long it is. */
  readonly caption?: string;
}

/** Draws a track as far as the moment, and the rest of it more faintly. */
export function TrackFigure({ track, cursorNs, topic, caption }: FigureProps) {
  const frame = useRef<HTMLElement>(null);
  const size = useSize(frame);
  return (
    <figure ref={frame} class="track-look">
      {track && size.widthPx > 0 && <Way {...{ track, cursorNs, topic, size }} />}
      {track && (
        <figcaption class="muted">
          {caption ?? `${formatCount(track.fixCount)} positions, ${formatMetres(track.lengthMetres)}`}
        </figcaption>
      )}
    </figure>
  );
}

interface WayProps extends FigureProps {
  readonly track: Track;
  readonly size: { readonly widthPx: number; readonly heightPx: number };
}

function Way({ track: { lines, bounds }, cursorNs, topic, size: { widthPx, heightPx } }: WayProps) {
  const [east, north] = [bounds.east - bounds.west, bounds.north - bounds.south];
  const metresPerPx = Math.max(
    east / Math.max(1, widthPx - 2 * EDGE_PX),
    north / Math.max(1, heightPx - 2 * EDGE_PX),
    1 / widthPx,
  );
  const place = (point: Pick<TrackPoint, "east" | "north">) => [
    widthPx / 2 + (point.east - (bounds.east + bounds.west) / 2) / metresPerPx,
    heightPx / 2 - (point.north - (bounds.north + bounds.south) / 2) / metresPerPx,
  ];
  const points = lines.flat();
  const here = place(points.findLast(({ timeNs }) => timeNs <= cursorNs) ?? points[0]!);
  const barMetres = scaleBarMetres(widthPx * metresPerPx);
  const draw = (line: readonly TrackPoint[]) => line.map((point) => place(point).map(toTenth).join()).join(" ");
  return (
    <svg class="track" viewBox={`0 0 ${widthPx} ${heightPx}`} role="img" aria-label={`Track of ${topic}`}>
      <Grid {...{ widthPx, heightPx, stepPx: barMetres / metresPerPx }} />
      {lines.map((line) => (
        <polyline key={line[0]!.timeNs} points={draw(line)} />
      ))}
      {lines.map((line) => (
        <polyline key={line[0]!.timeNs} class="track-past" points={draw(untilMoment(line, cursorNs))} />
      ))}
      <circle class="track-here" cx={here[0]} cy={here[1]} r={6} />
      <path class="track-bar" d={`M12 ${heightPx - 14}v4h${barMetres / metresPerPx}v-4`} />
      <text x={12} y={heightPx - 20}>
        {formatMetres(barMetres)}
      </text>
      <text x={widthPx - 12} y={22} text-anchor="end">
        N ↑
      </text>
    </svg>
  );
}

/** Lines as far from each other as the scale bar is long. */
function Grid({ stepPx, widthPx, heightPx }: WayProps["size"] & { stepPx: number }) {
  const places = (lengthPx: number) =>
    Array.from({ length: Math.floor(lengthPx / stepPx) }, (_, index) => toTenth((index + 1) * stepPx));
  const down = places(widthPx).map((x) => `M${x} 0V${heightPx}`);
  return <path class="track-grid" d={[...down, ...places(heightPx).map((y) => `M0 ${y}H${widthPx}`)].join("")} />;
}

function untilMoment(line: readonly TrackPoint[], cursorNs: number): readonly TrackPoint[] {
  return line.slice(0, line.findLastIndex(({ timeNs }) => timeNs <= cursorNs) + 1);
}

function toTenth(px: number): number {
  return Math.round(10 * px) / 10;
}

function formatMetres(metres: number): string {
  if (metres >= 1000) return `${Number((metres / 1000).toPrecision(3))} km`;
  return metres >= 0.1 ? `${Number(metres.toPrecision(3))} m` : `${Number((metres * 1000).toPrecision(3))} mm`;
}
