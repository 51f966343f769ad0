// Values change at now, but never before the last change of the same key plus 1 ns, so that intervals are never
// empty and never overlap where the clock stands still or goes back. Past edits are planned here, by a pure
// function.

import type { PropertyValue } from "@downlink/protocol";

/** A half-open span of time, start inclusive; without an end it is still in effect. */
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
  /** Undefined: no value was set. */
  readonly value: PropertyValue | undefined;
}

/** What makes a timeline hold the edit; each id occurs at most once. */
export interface OverlayPlan {
  readonly deletedIds: readonly string[];
  /** Intervals that keep their id and value over a shorter span. */
  readonly trimmed: readonly (Span & { readonly id: string })[];
  readonly inserted: readonly (Span & { readonly value: PropertyValue })[];
}

/**
 * Lays one value over the disjoint intervals of one key: those that it overlaps are split, trimmed or deleted.
 * An open interval loses its past part only, so that what is in effect now stays so. A split interval's earlier part keeps its id.
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

/** What is left of an overlapped interval before and after the edit. */
function subtract(interval: Span, edit: Edit): Span[] {
  const before = { startNs: interval.startNs, endNs: edit.startNs };
  const after = { startNs: edit.endNs, endNs: interval.endNs };
  return [before, after].filter(({ startNs, endNs }) => endNs === null || startNs < endNs);
}
