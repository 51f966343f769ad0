import type { api, CoverageSpan, Input } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import { countMatches, findPage, type Listed } from "../../calls/search/find-page.ts";
import type { Complete } from "../../core/complete.ts";
import { invalid } from "../../core/errors.ts";
import { Prisma } from "../../db/generated/client.ts";
import { newPoolReader } from "../../db/read-sql.ts";
import { touchesByBounds } from "../../db/span-sql.ts";
import { planList } from "../recordings/find-recordings.ts";

type Query = Input<(typeof api.coverage)["span"]>;
type ListQuery = Parameters<typeof planList>[1];
type Wanted = Pick<ListQuery, "sortBy" | "sortOrder"> &
  Partial<Pick<ListQuery, "start" | "end" | "offset">> & { readonly only?: Prisma.Sql };

type Span = NonNullable<CoverageSpan["all"]>;

/** One recording out of this many is left out at either end. */
const UNUSUAL = 100;

/** The earliest and the latest data are the first rows of some order, and an index has each order. */
export async function coverageSpan(ctx: Ctx, query: Query): Promise<Complete<CoverageSpan>> {
  const { start, end } = query;
  if (start !== undefined && end !== undefined && start > end) invalid("start", "must not be after end");
  const first = await findOne(ctx, query, byStart);
  const last = await findOne(ctx, query, byEnd);
  if (!first || !last) return { all: undefined, usual: undefined, previous: undefined, next: undefined };
  const all = { start: first.startNs, end: last.endNs };
  const span = { all, usual: await usualSpan(ctx, query, all), previous: undefined, next: undefined };
  if (await findOne(ctx, query, { ...byStart, start, end })) return span;
  // Nothing touches the window: data before it has ended before it begins, and data behind it begins after it ends.
  const previous = start === undefined ? null : await findOne(ctx, query, { ...byEnd, end: start });
  const next = end === undefined ? null : await findOne(ctx, query, { ...byStart, start: end });
  const isAround = start !== undefined && previous !== null && previous.endNs >= start;
  if (isAround && end !== undefined) return { ...span, ...(await findBeside(ctx, query, { start, end })) };
  return { ...span, previous: previous?.endNs, next: next?.startNs };
}

/** Finds the nearest data on both sides of a window that recordings lie around with their spans. */
async function findBeside(ctx: Ctx, query: Query, { start, end }: Span) {
  const before = await findOne(ctx, query, { ...byEnd, end: start, only: Prisma.sql`r."endNs" < ${start}` });
  const behind = await findOne(ctx, query, { ...byStart, start: end, only: Prisma.sql`r."startNs" > ${end}` });
  const [{ matching }] = (await plan(ctx, query, byStart)) as [Listed];
  const where = Prisma.join([...matching.where, ...touchesByBounds("r", { start, end })], " AND ");
  const [around] = await newPoolReader(ctx.db)<{ previous: bigint | null; next: bigint | null }>(Prisma.sql`
    SELECT max(s."endNs") FILTER (WHERE s."endNs" < ${start}) AS previous, min(s."startNs") FILTER (WHERE s."startNs" > ${end}) AS next
    FROM ${matching.from} JOIN "RecordingSpan" s ON s."recordingId" = r.id WHERE ${where}`);
  const previous = [before?.endNs, around?.previous].flatMap((timeNs) => timeNs ?? []);
  const next = [behind?.startNs, around?.next].flatMap((timeNs) => timeNs ?? []);
  return { previous: previous.sort(compare).at(-1), next: next.sort(compare)[0] };
}

const byStart = { sortBy: "start", sortOrder: "asc" } as const;
const byEnd = { sortBy: "end", sortOrder: "desc" } as const;

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : Number(a > b);
}

/** The two ends may cross if the recordings are strange enough: then all of them are usual. */
async function usualSpan(ctx: Ctx, query: Query, all: Span): Promise<Span> {
  const offset = Math.floor((await countMatches(newPoolReader(ctx.db), await plan(ctx, query, byStart))) / UNUSUAL);
  const first = await findOne(ctx, query, { ...byStart, offset });
  const last = await findOne(ctx, query, { ...byEnd, offset });
  return first && last && first.startNs <= last.endNs ? { start: first.startNs, end: last.endNs } : all;
}

async function findOne(ctx: Ctx, query: Query, wanted: Wanted) {
  const page = { limit: 1, offset: wanted.offset ?? 0 };
  const [id] = await findPage(newPoolReader(ctx.db), await plan(ctx, query, wanted), page);
  if (id === undefined) return null;
  return ctx.db.prisma.recording.findUnique({ where: { id }, select: { startNs: true, endNs: true } });
}

/** Without a session, recordings without a device are left out. */
function plan(ctx: Ctx, { includeEdgeRecordings, ...query }: Query, { start, end, only, ...order }: Wanted) {
  const isNamed = Boolean(query.sessionId || query.sessionKey);
  const list = { ...query, start, end, offset: 0, ...order, limit: 1 };
  const status = includeEdgeRecordings ? {} : { importStatus: ["complete" as const] };
  const withDevice = isNamed ? [] : [Prisma.sql`r."deviceId" IS NOT NULL`];
  const more = [...withDevice, ...(only ? [only] : [])].map((where) => ({ where }));
  return planList(ctx, { ...list, ...status }, more);
}
