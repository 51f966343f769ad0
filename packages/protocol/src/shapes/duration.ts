const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, min: 60_000, h: 3_600_000, d: 86_400_000 };

/** Answers the milliseconds of a text such as `500ms`, `2s`, `10min`, `1.5h` or `1d`, or undefined if it is no duration. */
export function parseDurationMs(text: string): number | undefined {
  const match = /^(\d{1,9}(?:\.\d{1,9})?)(ms|s|min|h|d)$/.exec(text);
  return match ? Math.round(Number(match[1]) * unitMs[match[2]!]!) : undefined;
}
