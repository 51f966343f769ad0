import type { Position } from "@downlink/messages/position";

export interface Fix extends Position {
  readonly timeNs: number;
}

/** A track on a plane, in metres east and north of its middle. */
export interface Track {
  /** A new line begins after a time without a position. */
  readonly lines: readonly (readonly TrackPoint[])[];
  readonly fixCount: number;
  readonly lengthMetres: number;
  readonly bounds: { readonly west: number; readonly south: number; readonly east: number; readonly north: number };
}

export interface TrackPoint {
  readonly timeNs: number;
  readonly east: number;
  readonly north: number;
}

const METRES_PER_DEGREE = 111_195;
/** More points than a screen has cannot be told apart. */
const MAX_POINTS = 2000;

/** Projects positions in order of time about their middle; it is exact enough for the way of a robot, not for a voyage. */
export function makeTrack(fixes: readonly Fix[], gapsNs: readonly { startNs: number; endNs: number }[] = []): Track {
  const points = project(fixes);
  const gapStarts = new Set(gapsNs.map(({ startNs }) => startNs));
  const lines: TrackPoint[][] = [];
  let lengthMetres = 0;
  for (const [index, point] of points.entries()) {
    const before = points[index - 1];
    if (before && !gapStarts.has(before.timeNs)) {
      lengthMetres += Math.hypot(point.east - before.east, point.north - before.north);
      lines.at(-1)!.push(point);
    } else lines.push([point]);
  }
  return { lines: lines.map(thinOut), fixCount: fixes.length, lengthMetres, bounds: boundsOf(points) };
}

/** Returns a round length of which about four fit into the given one. */
export function scaleBarMetres(widthMetres: number): number {
  const about = Math.max(widthMetres, 1e-3) / 4;
  const power = 10 ** Math.floor(Math.log10(about));
  const step = [5, 2, 1].find((factor) => factor * power <= about) ?? 1;
  return step * power;
}

function project(fixes: readonly Fix[]): TrackPoint[] {
  const first = fixes[0];
  if (!first) return [];
  const cosine = Math.cos((first.latitude * Math.PI) / 180);
  return fixes.map(({ timeNs, latitude, longitude }) => ({
    timeNs,
    // East of the first one by less than half a turn, so that the line does not go around the world at 180°.
    east: (((longitude - first.longitude + 540) % 360) - 180) * METRES_PER_DEGREE * cosine,
    north: (latitude - first.latitude) * METRES_PER_DEGREE,
  }));
}

function thinOut(line: readonly TrackPoint[]): readonly TrackPoint[] {
  if (line.length <= MAX_POINTS) return line;
  const step = Math.ceil(line.length / MAX_POINTS);
  return line.filter((_, index) => index % step === 0 || index === line.length - 1);
}

function boundsOf(points: readonly TrackPoint[]): Track["bounds"] {
  let [west, south, east, north] = [0, 0, 0, 0];
  for (const point of points) {
    west = Math.min(west, point.east);
    east = Math.max(east, point.east);
    south = Math.min(south, point.north);
    north = Math.max(north, point.north);
  }
  return { west, south, east, north };
}
