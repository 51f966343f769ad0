export interface CurvePoint {
  readonly atMs: number;
  readonly value: number;
}

interface Frame {
  readonly fromMs: number;
  readonly toMs: number;
  readonly highest: number;
  readonly width: number;
  readonly height: number;
}

/** A longer silence breaks the line, because its values are not known. Points are five minutes apart. */
const GAP_MS = 16 * 60_000;

/** Returns the `d` of an SVG path through points that are in order of time, broken where the device was silent. */
export function curvePath(points: readonly CurvePoint[], { fromMs, toMs, highest, width, height }: Frame): string {
  const x = (atMs: number) => ((atMs - fromMs) / (toMs - fromMs)) * width;
  const y = (value: number) => height - (highest > 0 ? value / highest : 0) * height;
  return points
    .map(({ atMs, value }, index) => {
      const before = points[index - 1];
      const command = before === undefined || atMs - before.atMs > GAP_MS ? "M" : "L";
      return `${command}${x(atMs).toFixed(1)} ${y(value).toFixed(1)}`;
    })
    .join("");
}
