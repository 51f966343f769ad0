import { type CurvePoint, curvePath } from "./curve.ts";

const [WIDTH, HEIGHT] = [320, 48];
const WEEK_MS = 7 * 86_400_000;

interface CurveProps {
  readonly label: string;
  readonly points: readonly CurvePoint[];
  readonly highest: number;
}

/** Draws the last seven days of a number as a line. The same is said in words beside it. */
export function WeekCurve({ label, points, highest }: CurveProps) {
  const toMs = Date.now();
  if (points.length < 2) return <p class="muted">A curve of the last seven days is drawn once there is data.</p>;
  const d = curvePath(points, { fromMs: toMs - WEEK_MS, toMs, highest, width: WIDTH, height: HEIGHT });
  return (
    <figure class="curve">
      <svg viewBox={`0 -1 ${WIDTH} ${HEIGHT + 2}`} role="img" aria-label={label} preserveAspectRatio="none">
        <path d={d} />
      </svg>
      <figcaption class="row muted">
        <span>7 days ago</span>
        <span class="grow" />
        <span>now</span>
      </figcaption>
    </figure>
  );
}
