// Rows in a window of time are found by their starts; those that began before and reach into it are found by the index of spans at one
// moment, or for recordings within a day before it. We do not use two bounds alone, because the planner multiplies their selectivities.

import { FIRST_TIME_NS, LAST_TIME_NS, LEAST_GAP_NS } from "@downlink/protocol";
import { Prisma } from "./generated/client.ts";

interface Span {
  readonly start?: bigint | undefined;
  readonly end?: bigint | undefined;
}

/** The last time that a range of Postgres can include: its end is exclusive, and must fit 64 bits too. */
const LAST_IN_RANGE_NS = LAST_TIME_NS - 1n;

/**
 * The condition that rows of the table with this alias touch the span with their time, from `startNs` to `endNs`; all ends are inclusive,
 * and an absent one is open. The plain bounds decide. The range cannot tell the last two nanoseconds of all time apart; it is for the index
 * over `downlink_span`, and for the planner, which knows how many ranges overlap but would multiply the selectivities of two bounds.
 */
export function touches(alias: string, { start, end }: Span): Prisma.Sql[] {
  if (start === undefined && end === undefined) return [];
  if (start !== undefined && end !== undefined && start > end) return [Prisma.sql`FALSE`];
  const span = Prisma.raw(`downlink_span(${alias}."startNs", ${alias}."endNs")`);
  const range = Prisma.sql`int8range(${within(start)}::bigint, ${within(end)}::bigint, '[]')`;
  return [...touchesByBounds(alias, { start, end }), Prisma.sql`${span} && ${range}`];
}

/** The same condition by the plain bounds alone, which an index of another order may have behind its key. */
export function touchesByBounds(alias: string, { start, end }: Span): Prisma.Sql[] {
  if (start !== undefined && end !== undefined && start > end) return [Prisma.sql`FALSE`];
  return [
    ...(start === undefined ? [] : [Prisma.sql`${Prisma.raw(`${alias}."endNs"`)} >= ${start}`]),
    ...(end === undefined ? [] : [Prisma.sql`${Prisma.raw(`${alias}."startNs"`)} <= ${end}`]),
  ];
}

/** The columns of a row by which it has a recording's id and time. */
interface RecordingColumns {
  readonly id: Prisma.Sql;
  readonly startNs: Prisma.Sql;
  readonly endNs: Prisma.Sql;
}

export function columnsOfRecording(alias: string): RecordingColumns {
  const column = (name: string) => Prisma.raw(`${alias}."${name}"`);
  return { id: column("id"), startNs: column("startNs"), endNs: column("endNs") };
}

/**
 * The condition that a recording whose time touches the window has messages there; both ends are inclusive. Only one that begins before
 * the window and ends after it may lie around it with its spans, and only of such a one the spans are looked up: by the id, so that an
 * index is still all that a list reads.
 */
export function hasMessagesIn(
  { id, startNs, endNs }: RecordingColumns,
  start: Prisma.Sql,
  end: Prisma.Sql,
): Prisma.Sql {
  const reached = Prisma.sql`SELECT max(s."endNs") FROM "RecordingSpan" s WHERE s."recordingId" = ${id} AND s."startNs" <= ${end}`;
  return Prisma.sql`(${startNs} >= ${start} OR ${endNs} <= ${end} OR coalesce((${reached}), ${start}) >= ${start})`;
}

/** The same for a window whose ends may be absent; a recording that touches an open one has its first or last message there. */
export function reachesBySpans(columns: RecordingColumns, { start, end }: Span): Prisma.Sql[] {
  if (start === undefined || end === undefined || start > end) return [];
  return [hasMessagesIn(columns, Prisma.sql`${start}::bigint`, Prisma.sql`${end}::bigint`)];
}

/**
 * Joins recordings `r` with their spans `s`: one row for each span that touches the window, and one without a span for a recording that has
 * none. Only recordings of more than an hour have spans; those of others are not looked for. `OFFSET 0` keeps the planner from reading all
 * spans at once.
 */
export function joinSpans({ start, end }: { readonly start: bigint; readonly end: bigint }): {
  readonly join: Prisma.Sql;
  readonly where: Prisma.Sql;
} {
  return {
    join: Prisma.sql`LEFT JOIN LATERAL (SELECT x.* FROM "RecordingSpan" x
      WHERE x."recordingId" = r.id AND r."endNs" - r."startNs" > ${LEAST_GAP_NS}::bigint OFFSET 0) s ON TRUE`,
    where: Prisma.sql`(s."recordingId" IS NULL OR s."startNs" <= ${end}::bigint AND s."endNs" >= ${start}::bigint)`,
  };
}

function within(timeNs: bigint | undefined): bigint | null {
  if (timeNs === undefined) return null;
  return timeNs > LAST_IN_RANGE_NS ? LAST_IN_RANGE_NS : timeNs;
}

/**
 * Splits the same rows into two disjoint ranges: those that start within the span, which an index by start has in order, and those that
 * began before it and reach it, which the index of spans gives for its first moment. Returns no ranges if the span is open on both sides.
 */
export function splitAtStart(alias: string, span: Span): Prisma.Sql[] {
  const { start, end } = span;
  if (start === undefined && end === undefined) return [];
  if (start !== undefined && end !== undefined && start > end) return [Prisma.sql`FALSE`];
  const startNs = Prisma.raw(`${alias}."startNs"`);
  if (start === undefined) return [between(startNs, span)];
  const reaching = [...touches(alias, { start, end: start }), Prisma.sql`${startNs} < ${start}`];
  return [between(startNs, span), Prisma.join(reaching, " AND ")];
}

/** Few recordings are longer than this. The definition of the index of long ones holds the same number. */
export const LONG_NS = 86_400_000_000_000n;

export function isLong(alias: string): Prisma.Sql {
  return Prisma.raw(`${alias}."durationNs" > ${LONG_NS}`);
}

/** Before this time only long recordings can have begun and not have ended by `timeNs`. */
export function longBefore(timeNs: bigint): bigint {
  return timeNs - LONG_NS < FIRST_TIME_NS ? FIRST_TIME_NS : timeNs - LONG_NS;
}

function longAfter(timeNs: bigint): bigint {
  return timeNs + LONG_NS > LAST_TIME_NS ? LAST_TIME_NS : timeNs + LONG_NS;
}

/**
 * Splits the recordings that touch the span, as {@link touches} and {@link reachesBySpans} say, into disjoint ranges of their starts or of their ends: an index gives
 * each range in that order, and the planner knows how many rows there are. Returns no ranges if the span is open on both sides.
 */
export function splitTouching(alias: string, span: Span, by: "start" | "end"): Prisma.Sql[] {
  const { start, end } = span;
  if (start === undefined && end === undefined) return [];
  if (start !== undefined && end !== undefined && start > end) return [Prisma.sql`FALSE`];
  const columns = columnsOfRecording(alias);
  const { startNs, endNs } = columns;
  const reaching = (range: Prisma.Sql) => Prisma.join([range, ...reachesBySpans(columns, span)], " AND ");
  if (by === "start" && start !== undefined)
    return [
      between(startNs, span),
      reaching(Prisma.sql`${startNs} >= ${longBefore(start)} AND ${startNs} < ${start} AND ${endNs} >= ${start}`),
      reaching(Prisma.sql`${startNs} < ${longBefore(start)} AND ${endNs} >= ${start} AND ${isLong(alias)}`),
    ];
  if (by === "end" && end !== undefined)
    return [
      between(endNs, span),
      reaching(Prisma.sql`${endNs} <= ${longAfter(end)} AND ${endNs} > ${end} AND ${startNs} <= ${end}`),
      reaching(Prisma.sql`${endNs} > ${longAfter(end)} AND ${startNs} <= ${end} AND ${isLong(alias)}`),
    ];
  return [between(by === "start" ? startNs : endNs, span)];
}

function between(timeNs: Prisma.Sql, { start, end }: Span): Prisma.Sql {
  const bounds = [
    ...(start === undefined ? [] : [Prisma.sql`${timeNs} >= ${start}`]),
    ...(end === undefined ? [] : [Prisma.sql`${timeNs} <= ${end}`]),
  ];
  return Prisma.join(bounds, " AND ");
}
