/** The most spans of a recording. */
export const MAX_SPANS = 64;

/** Spans of a recording are further apart than this. */
export const LEAST_GAP_NS = 3_600_000_000_000n;

/** A time with both ends, inclusive. */
type Span = readonly [start: bigint, end: bigint];

export const SPANS_RULE =
  "must be sorted, lie more than an hour apart, begin with the recording's start and end with its end";

/** Whether these are the times in which a whole has messages. */
export function areSpansOf(spans: readonly Span[], [start, end]: Span): boolean {
  const areApart = spans.every(([from, to], at) => from <= to && (at === 0 || from - spans[at - 1]![1] > LEAST_GAP_NS));
  return areApart && spans[0]?.[0] === start && spans.at(-1)?.[1] === end;
}
