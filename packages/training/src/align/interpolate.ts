import type { FeaturePart } from "@downlink/protocol";

/** Two messages among the values of a part. */
interface Ends {
  readonly from: Float64Array;
  /** Where their values begin. */
  readonly a: number;
  readonly b: number;
  readonly width: number;
  /** The share of the second one, from 0 to 1. */
  readonly share: number;
  readonly quaternion: FeaturePart["quaternion"];
}

/** Writes the values between two messages. */
export function interpolate(into: Float64Array, at: number, { from, a, b, width, share, quaternion }: Ends): void {
  if (quaternion && width === 4) {
    turn(into, at, { from, a, b, share });
    return;
  }
  for (let column = 0; column < width; column += 1) {
    const [before, after] = [from[a + column]!, from[b + column]!];
    into[at + column] = before + (after - before) * share;
  }
}

/** A linear way is taken where the angle is too small to divide by. */
const NEARLY_EQUAL = 0.9995;

/** Turns on the shorter arc; the order of the four values does not matter. source: Shoemake, Animating rotation with quaternion curves */
function turn(into: Float64Array, at: number, { from, a, b, share }: Omit<Ends, "width" | "quaternion">): void {
  const [first, second] = [from.slice(a, a + 4), from.slice(b, b + 4)];
  const dot = first.reduce((sum, value, place) => sum + value * second[place]!, 0);
  const sign = dot < 0 ? -1 : 1;
  const angle = Math.acos(Math.min(1, Math.abs(dot)));
  const isNear = Math.abs(dot) > NEARLY_EQUAL;
  const weightA = isNear ? 1 - share : Math.sin((1 - share) * angle) / Math.sin(angle);
  const weightB = sign * (isNear ? share : Math.sin(share * angle) / Math.sin(angle));
  const turned = first.map((value, place) => weightA * value + weightB * second[place]!);
  const length = Math.hypot(...turned);
  for (const [place, value] of turned.entries()) into[at + place] = length > 0 ? value / length : value;
}
