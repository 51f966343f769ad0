import type { TrainingMapping } from "@downlink/protocol";
import type { Range, TriedEpisode } from "./sum-up-parts.ts";

/** Formats a number in three digits, and a whole one as it is. */
export function formatShort(value: number): string {
  return String(Number.isInteger(value) ? value : Number(value.toPrecision(3)));
}

/** Formats a range as one number where its ends look the same: `10 Hz`, `9.8–10 Hz`. */
export function formatRange(range: Range | undefined, unit: string): string {
  if (!range) return "—";
  const [least, most] = range.map(formatShort);
  return least === most ? `${most} ${unit}` : `${least}–${most} ${unit}`;
}

/** Formats a shape as `240 × 320 × 3`. */
export function formatShape(shape: readonly number[]): string {
  return shape.join(" × ") || "1";
}

/** Values of a row beyond these are left out. */
const SHOWN = 12;

/** Formats the values of a row: `0.1, 2, … 20 more`. */
export function formatValue(value: unknown): string {
  if (value === null) return "no number";
  if (typeof value === "number") return formatShort(value);
  if (!Array.isArray(value)) return String(value);
  const shown = value.slice(0, SHOWN).map(formatValue).join(", ");
  return value.length > SHOWN ? `${shown}, … ${value.length - SHOWN} more` : shown;
}

type GapRule = Pick<TrainingMapping, "onGap">;

/** The outcome of a tried episode. */
export interface Outcome {
  readonly text: string;
  readonly sign: string;
  readonly tone: "good" | "warn" | "failed";
  readonly reason: string | undefined;
}

/** Says what became of a tried episode, the worst first. A gap inside it is one where the mapping says nothing else. */
export function outcomeOf({ problem, leftOut, pieceCount, gaps }: TriedEpisode, { onGap = "fail" }: GapRule): Outcome {
  const stops = problem ?? (onGap === "fail" && gaps.length > 0 ? leftOut : undefined);
  if (stops !== undefined) return { text: "no set can be built:", sign: "▲", tone: "failed", reason: stops };
  if (pieceCount === 0) return { text: "left out:", sign: "▲", tone: "warn", reason: leftOut };
  const text = pieceCount > 1 ? `split into ${pieceCount}` : "complete";
  if (leftOut !== undefined) return { text: `${text}, some left out:`, sign: "▲", tone: "warn", reason: leftOut };
  return { text, sign: "■", tone: "good", reason: undefined };
}

/** Says how many rows are trimmed: `3 at the start, 1 at the end`. */
export function trimmedText({ trimmedStart, trimmedEnd }: TriedEpisode): string {
  const ends = [
    ...(trimmedStart > 0 ? [`${trimmedStart} at the start`] : []),
    ...(trimmedEnd > 0 ? [`${trimmedEnd} at the end`] : []),
  ];
  return ends.join(", ") || "—";
}

/** Returns the command that fetches a set, into a folder of its own that is named as the dataset and its version. */
export function pullCommand(id: string, datasetName: string, versionNumber: number): string {
  const plain = datasetName.replaceAll(/[^\w.-]+/g, "-").replace(/^[-.]+|-+$/g, "");
  return `dl training-set pull ${id} -o ${plain || "dataset"}-${versionNumber}-${id.slice(-6)}`;
}
