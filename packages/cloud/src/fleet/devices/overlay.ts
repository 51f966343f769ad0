// A value changes now, but never earlier than 1 ns after the last change of the same key, so that intervals are never empty and never
// overlap when the clock stands still or goes back. Edits of the past are planned here, by a pure function.

import type { PropertyValue } from "@downlink/protocol";

/** A half-open span of time whose start is inclusive; without an end it is still in effect. */
export interface Span {
  readonly startNs: bigint;
  readonly endNs: bigint | null;
}

export interface Interval extends Span {
  readonly id: string;
  readonly value: PropertyValue;
}

interface Edit extends Span {
  readonly endNs: bigint;
  /** Undefined: no value was set in this span. */
  readonly value: PropertyValue | undefined;
}

/** The changes that put the edit into a timeline; each id occurs at most once. */
export interface OverlayPlan {
  readonly deletedIds: readonly string[];
  /** Intervals that keep their id and value over a shorter span. */
  readonly trimmed: readonly (Span & { readonly id: string })[];
  readonly inserted: readonly (Span & { readonly value: PropertyValue })[];
}

/**
 * Lays one value over the disjoint intervals of one key: intervals that it overlaps are split, trimmed or deleted. An open interval
 * loses only its past part, so that its value stays in effect now. The earlier part of a split interval keeps the id.
 */
export function overlay(intervals: readonly Interval[], edit: Edit): OverlayPlan {
  const touched = intervals.filter((interval) => overlaps(interval, edit));
  const cuts = touched.map((interval) => ({ ...interval, rest: subtract(interval, edit) }));
  const split = cuts.flatMap(({ value, rest }) => rest.slice(1).map((span) => ({ ...span, value })));
  const { startNs, endNs, value } = edit;
  return {
    deletedIds: cuts.filter(({ rest }) => rest.length === 0).map(({ id }) => id),
    trimmed: cuts.flatMap(({ id, rest }) => rest.slice(0, 1).map((span) => ({ ...span, id }))),
    inserted: value === undefined ? split : [{ startNs, endNs, value }, ...split],
  };
}

function overlaps(interval: Span, { startNs, endNs }: Edit): boolean {
  return interval.startNs < endNs && (interval.endNs === null || interval.endNs > startNs);
}

/** Returns what is left of an overlapped interval before and after the edit. */
function subtract(interval: Span, edit: Edit): Span[] {
  const before = { startNs: interval.startNs, endNs: edit.startNs };
  const after = { startNs: edit.endNs, endNs: interval.endNs };
  return [before, after].filter(({ startNs, endNs }) => endNs === null || startNs < endNs);
}
