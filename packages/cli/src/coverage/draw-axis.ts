import { formatTimestamp } from "@downlink/protocol";

const SECOND = 1_000_000_000n;
const MINUTE = 60n * SECOND;
const HOUR = 60n * MINUTE;
const DAY = 24n * HOUR;

/** The distances between two marks from which one is chosen. */
const steps: readonly bigint[] = [
  ...[0n, 1n, 2n, 3n, 4n, 5n, 6n, 7n, 8n].flatMap((power) => [1n, 2n, 5n].map((digit) => digit * 10n ** power)),
  ...[1n, 2n, 5n, 10n, 15n, 30n].map((count) => count * SECOND),
  ...[1n, 2n, 5n, 10n, 15n, 30n].map((count) => count * MINUTE),
  ...[1n, 2n, 3n, 6n, 12n].map((count) => count * HOUR),
  ...[0n, 1n, 2n, 3n, 4n].flatMap((power) => [1n, 2n, 5n].map((digit) => digit * 10n ** power * DAY)),
];

interface Axis {
  readonly startNs: bigint;
  readonly cellNs: bigint;
  readonly cells: number;
}

const GAP = 2;

/** Draws an axis of so many cells, and below it round times in UTC where its marks are. */
export function drawAxis({ startNs, cellNs, cells }: Axis): string[] {
  const stepNs = steps.find((step) => step >= cellNs * BigInt(labelOf(startNs, step).length + GAP)) ?? steps.at(-1)!;
  const marks = Array.from({ length: cells }, () => "─");
  let labels = "";
  const firstNs = startNs + mod(-startNs, stepNs);
  for (let atNs = firstNs; ; atNs += stepNs) {
    const cell = Number((atNs - startNs) / cellNs);
    if (cell >= cells) break;
    marks[cell] = "┬";
    const label = labelOf(atNs, stepNs);
    if (cell + label.length <= cells) labels = labels.padEnd(cell) + label;
  }
  return [marks.join(""), labels];
}

/** Returns from when to when an axis is, in whole seconds unless its cells are shorter. */
export function axisText({ startNs, cellNs, cells }: Axis): string {
  const [start, end] = [startNs, startNs + cellNs * BigInt(cells)].map(formatTimestamp);
  const cut = (text: string | undefined) => (cellNs >= SECOND ? text?.replace(/\.\d+Z$/, "Z") : text);
  return `${cut(start)} to ${cut(end)}`;
}

function labelOf(timeNs: bigint, stepNs: bigint): string {
  const [day, clock] = formatTimestamp(timeNs).replace("Z", "").split("T") as [string, string];
  if (stepNs >= DAY) return day;
  if (stepNs >= MINUTE) return `${day.slice(-5)} ${clock.slice(0, 5)}`;
  if (stepNs >= SECOND) return clock.slice(0, 8);
  return clock.padEnd(18, clock.length === 8 ? ".000000000" : "0");
}

/** Returns the remainder that is never below 0. */
function mod(value: bigint, divisor: bigint): bigint {
  return ((value % divisor) + divisor) % divisor;
}
