import { previewLimits } from "./limits.ts";
import type { Line } from "./requests.ts";

/** Formats one line of a plot for an address: `/imu@/linear_acceleration/x`. Addresses separate lines by commas. */
export function formatLine({ topic, field }: Line): string {
  return `${topic}@${field}`.replaceAll("%", "%25").replaceAll(",", "%2C");
}

export function parseLine(text: string): Line | undefined {
  const plain = text.replaceAll("%2C", ",").replaceAll("%25", "%");
  const at = plain.indexOf("@/");
  return at < 0 ? undefined : { topic: plain.slice(0, at), field: plain.slice(at + 1) };
}

/** Adds a line or removes it; no more are added than can be distinguished. */
export function toggleLine(lines: readonly string[], line: string): readonly string[] {
  if (lines.includes(line)) return lines.filter((one) => one !== line);
  return lines.length >= previewLimits.series ? lines : [...lines, line];
}
