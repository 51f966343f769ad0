// A summary of recordings reads at most 100,000 of them, and says so if there are more (0.1 to 0.25 s). Sums kept by triggers would make
// all imports of a device wait for one row. The span of all data is made of the first ones of lists.

import {
  type api,
  type ImportStatus,
  type Input,
  MAX_SUMMARIZED,
  MAX_SUMMARIZED_DEVICES,
  type RecordingSummary,
} from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import { selectMatches } from "../../calls/search/find-page.ts";
import type { Complete } from "../../core/complete.ts";
import { Prisma } from "../../db/generated/client.ts";
import { planList } from "./find-recordings.ts";

type Query = Input<(typeof api.recordings)["summarize"]>;

interface Group {
  /** Set for a group by status. */
  readonly importStatus: ImportStatus | null;
  /** Set for a group by device; also null for the group without a device. */
  readonly deviceId: string | null;
  readonly grouped: "all" | "status" | "device";
  readonly count: bigint;
  readonly bytes: Prisma.Decimal;
  readonly ns: Prisma.Decimal;
}

/** The matching rows are read once and up to a limit: a caller with more recordings waits no longer. */
export async function summarizeRecordings(ctx: Ctx, query: Query): Promise<Complete<RecordingSummary>> {
  const [list] = await planList(ctx, { ...query, sortOrder: "asc", limit: MAX_SUMMARIZED, offset: 0 });
  const columns = Prisma.sql`r."importStatus", r."deviceId", r."sizeBytes", r."durationNs"`;
  const groups = await ctx.db.prisma.$queryRaw<Group[]>`
    SELECT "importStatus", "deviceId", count(*), coalesce(sum("sizeBytes"), 0) AS bytes, coalesce(sum("durationNs"), 0) AS ns,
      CASE WHEN grouping("importStatus") = 0 THEN 'status' WHEN grouping("deviceId") = 0 THEN 'device' ELSE 'all' END AS grouped
    FROM (SELECT * FROM (${selectMatches(list!.matching, columns)}) AS matches LIMIT ${MAX_SUMMARIZED + 1}) AS found
    GROUP BY GROUPING SETS ((), ("importStatus"), ("deviceId"))
    ORDER BY count(*) DESC, "importStatus", "deviceId"`;
  const filterByKind = (kind: Group["grouped"]) => groups.filter(({ grouped }) => grouped === kind);
  const [all] = filterByKind("all");
  return {
    ...toSums(all!),
    isCapped: all!.count > MAX_SUMMARIZED,
    byStatus: filterByKind("status").map((group) => ({ importStatus: group.importStatus!, ...toSums(group) })),
    byDevice: await withDevices(ctx, filterByKind("device").slice(0, MAX_SUMMARIZED_DEVICES)),
  };
}

function toSums({ count, bytes, ns }: Group) {
  return { count: Number(count), bytes: Number(bytes), seconds: Number(ns) / 1e9 };
}

async function withDevices({ db }: Ctx, groups: readonly Group[]): Promise<Complete<RecordingSummary["byDevice"]>> {
  const devices = await db.prisma.device.findMany({
    where: { id: { in: groups.flatMap(({ deviceId }) => deviceId ?? []) } },
    select: { id: true, name: true },
  });
  const byId = new Map<string | null, (typeof devices)[number]>(devices.map((device) => [device.id, device]));
  return groups.map((group) => ({ device: byId.get(group.deviceId), ...toSums(group) }));
}
