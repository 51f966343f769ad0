import type { SourceRange } from "./source.ts";

/** Neighbouring ranges as one, or a part of a long one. */
export interface Extent extends SourceRange {
  /** How many of its bytes are in one of the ranges. */
  readonly wantedBytes: number;
}

export interface Coalescing {
  readonly mostBytes: number;
  /** So many unwanted bytes between two ranges take less time than another request. */
  readonly gapBytes: number;
}

/** Joins neighbouring ranges, and cuts long ones, in their order. The ranges are taken as the extents are. */
export function* coalesce(
  ranges: Iterable<SourceRange>,
  { mostBytes, gapBytes }: Coalescing,
): Generator<Extent, undefined> {
  let open: { start: number; end: number; wantedBytes: number } | undefined;
  for (const range of ranges)
    for (let { start } = range; start < range.end; ) {
      const isNear = open && start >= open.end && start - open.end <= gapBytes && start < open.start + mostBytes;
      if (open && !isNear) yield open;
      if (!open || !isNear) open = { start, end: start, wantedBytes: 0 };
      open.end = Math.min(range.end, open.start + mostBytes);
      open.wantedBytes += open.end - start;
      start = open.end;
    }
  if (open) yield open;
  return undefined;
}
