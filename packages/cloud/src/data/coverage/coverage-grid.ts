// The database reads an index alone, and packs what it read into one value for each device: to merge intervals there takes four times as
// long, and a row for each recording twice. So a grid of 64 devices with 18,000 recordings in its window takes 11 ms in the database, and
// one with 52,000 takes 32.

import { type api, type CoverageGrid, type Input, LAST_TIME_NS, LEAST_GAP_NS } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import type { Complete } from "../../core/complete.ts";
import { invalid } from "../../core/errors.ts";
import { Prisma } from "../../db/generated/client.ts";
import { newPoolReader } from "../../db/read-sql.ts";
import { LONG_NS, longBefore } from "../../db/span-sql.ts";
import { findDevices } from "../../fleet/devices/list-devices.ts";
import { visibleIn } from "../../organization/projects/find-project.ts";
import { projectWhere } from "../../organization/projects/scope-sql.ts";
import { partNumbers, toGridRow } from "./grid-cells.ts";

type Query = Input<(typeof api.coverage)["grid"]>;
type Sql = Prisma.Sql;

/** The times are inclusive, and `lastNs` is the last time that there is if the window ends behind it. */
interface Window {
  readonly firstNs: bigint;
  readonly lastNs: bigint;
  readonly binNs: bigint;
}

export async function coverageGrid(ctx: Ctx, query: Query): Promise<Complete<CoverageGrid>> {
  const { start, binNs, bins } = query;
  const window = windowOf(query);
  const devices = await findDevices(ctx, query);
  const ids = devices.map(({ id }) => id);
  const scope = projectWhere("r", await visibleIn(ctx, query.projectId));
  const recorded = await readPacked(ctx, ids, packedRecordings(window, scope));
  const marked = await readPacked(ctx, ids, packedEvents(window, scope));
  const rows = devices.map(({ id, name }) => {
    const packed = { recordings: recorded.get(id) ?? NOTHING, events: marked.get(id) ?? NOTHING };
    return { id, name, ...toGridRow(packed, { bins, binNs }) };
  });
  return { start, binNs, bins, devices: rows };
}

const NOTHING = Buffer.alloc(0);

function windowOf({ start, binNs, bins }: Query): Window {
  const lengthNs = BigInt(binNs) * BigInt(bins);
  if (lengthNs > LAST_TIME_NS) invalid("binNs", "must not make the bins longer than 2^63 - 1 ns together");
  const lastNs = start + lengthNs - 1n;
  return { firstNs: start, lastNs: lastNs > LAST_TIME_NS ? LAST_TIME_NS : lastNs, binNs: BigInt(binNs) };
}

/** Returns what the query packs for each device that has any; a device is `d` there. */
async function readPacked({ db }: Ctx, ids: readonly string[], packed: Sql): Promise<Map<string, Buffer>> {
  if (ids.length === 0) return new Map();
  const rows = await newPoolReader(db)<{ id: string; packed: Buffer | null }>(Prisma.sql`
    SELECT d.id, p.packed FROM unnest(${[...ids]}::text[]) d(id) CROSS JOIN LATERAL (${packed}) p`);
  return new Map(rows.flatMap(({ id, packed }) => (packed ? [[id, packed] as const] : [])));
}

/** See {@link toGridRow}, which reads what is packed here. Few recordings have spans, so that no join looks for those of all. */
function packedRecordings(window: Window, scope: readonly Sql[]): Sql {
  const { firstNs, lastNs } = window;
  const columns = Prisma.sql`r.id, greatest(r."startNs", ${firstNs}) AS s, least(r."endNs", ${lastNs}) AS e,
    r."endNs" - r."startNs" AS length, r."importStatus", r."sizeBytes"`;
  const isLong = Prisma.sql`r."durationNs" > ${Prisma.raw(String(LONG_NS))}`;
  const hasSpans = Prisma.sql`length > ${LEAST_GAP_NS}::bigint
    AND EXISTS (SELECT FROM "RecordingSpan" x WHERE x."recordingId" = touching.id)`;
  return Prisma.sql`
    SELECT string_agg(CASE WHEN ${hasSpans} THEN (${packedSpans(window)}) ELSE ${packedRow(window, Prisma.sql`0`)} END, '') AS packed
    FROM (${selectTouching("Recording", { window, scope, columns, isLong })}) AS touching`;
}

/** The spans of a recording that touch the window. All but the first are marked: the recording counts once. */
function packedSpans(window: Window): Sql {
  const { firstNs, lastNs } = window;
  return Prisma.sql`
    SELECT string_agg(${packedRow(window, Prisma.sql`CASE WHEN number = 1 THEN 0 ELSE 4 END`)}, '' ORDER BY s)
    FROM (SELECT greatest(x."startNs", ${firstNs}) AS s, least(x."endNs", ${lastNs}) AS e, row_number() OVER (ORDER BY x."startNs") AS number
      FROM "RecordingSpan" x
      WHERE x."recordingId" = touching.id AND x."startNs" <= ${lastNs} AND x."endNs" >= ${firstNs}) AS y`;
}

function packedRow(window: Window, mark: Sql): Sql {
  const { firstNs } = window;
  const part = Prisma.sql`CASE "importStatus" ${Prisma.join(
    Object.entries(partNumbers).map(([status, number]) => Prisma.sql`WHEN ${status} THEN ${number}::int`),
    " ",
  )} END`;
  return Prisma.sql`int4send(${binsSql(window)} << 3 | ${part} | ${mark}) || float8send((s - ${firstNs})::float8)
    || float8send((e - ${firstNs})::float8) || float8send("sizeBytes"::float8)`;
}

function packedEvents(window: Window, scope: readonly Sql[]): Sql {
  const columns = Prisma.sql`greatest(r."startNs", ${window.firstNs}) AS s, least(r."endNs", ${window.lastNs}) AS e`;
  const isLong = Prisma.sql`r."endNs"::numeric - r."startNs" > ${Prisma.raw(String(LONG_NS))}`;
  return Prisma.sql`
    SELECT string_agg(int4send(${binsSql(window)}), '') AS packed
    FROM (${selectTouching("Event", { window, scope, columns, isLong })}) AS touching`;
}

/** The first and the last bin of what lies from `s` to `e`, in 12 bits each. */
function binsSql({ firstNs, binNs }: Window): Sql {
  return Prisma.sql`((s - ${firstNs}) / ${binNs}::bigint << 12 | (e - ${firstNs}) / ${binNs}::bigint)::int4`;
}

interface Touching {
  readonly window: Window;
  readonly scope: readonly Sql[];
  readonly columns: Sql;
  /** The condition of the index of long ones. */
  readonly isLong: Sql;
}

/**
 * The rows `r` of the device that touch the window, long ones first: they began before all others, so that the starts, none of which is
 * before the window, mostly ascend.
 */
function selectTouching(table: "Recording" | "Event", { window, scope, columns, isLong }: Touching): Sql {
  const { firstNs, lastNs } = window;
  const nearNs = longBefore(firstNs);
  const rows = Prisma.sql`SELECT ${columns} FROM ${Prisma.raw(`"${table}" r`)} WHERE ${Prisma.join(
    [Prisma.sql`r."deviceId" = d.id AND r."endNs" >= ${firstNs}`, ...scope],
    " AND ",
  )}`;
  const atFirst = Prisma.sql`downlink_span(r."startNs", r."endNs") && downlink_span(${firstNs}::bigint, ${firstNs}::bigint)`;
  return Prisma.sql`
    ${rows} AND ${isLong} AND r."startNs" < ${nearNs} AND ${atFirst}
    UNION ALL ${rows} AND r."startNs" BETWEEN ${nearNs} AND ${lastNs}`;
}
