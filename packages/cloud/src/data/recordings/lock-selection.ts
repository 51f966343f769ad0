import { bulkLimits, type ImportStatus, type RecordingFilter } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import { countMatches, findPage } from "../../calls/search/find-page.ts";
import { invalid } from "../../core/errors.ts";
import { Prisma } from "../../db/generated/client.ts";
import type { EdgeFileModel, RecordingModel } from "../../db/generated/models.ts";
import { newTransactionReader } from "../../db/read-sql.ts";
import type { Transaction } from "../../db/transaction.ts";
import { visibleTo } from "../../organization/projects/find-project.ts";
import { scopeWhere } from "../../organization/projects/scope-sql.ts";
import { planList } from "./find-recordings.ts";

export interface Selection {
  readonly recordingIds?: readonly string[] | undefined;
  readonly filter?: RecordingFilter | undefined;
}

type Columns = Pick<
  RecordingModel,
  "id" | "orgId" | "projectId" | "deviceId" | "key" | "path" | "importId" | "storedDamage"
>;

export interface SelectedRecording extends Columns {
  readonly importStatus: ImportStatus;
  readonly deviceName: string | null;
  /** Both are null if there is no edge copy that counts as present. */
  readonly versionId: EdgeFileModel["versionId"] | null;
  readonly agentId: EdgeFileModel["agentId"] | null;
}

export interface LockedSelection {
  readonly rows: readonly SelectedRecording[];
  /** How many recordings were named, or matched, and do not exist or are not visible to the caller. */
  readonly missing: number;
}

/** Locks the recordings that a call selects, in the order in which every transaction locks several. */
export async function lockSelection(tx: Transaction, ctx: Ctx, selection: Selection): Promise<LockedSelection> {
  const { recordingIds, filter } = selection;
  const ids = filter ? await findMatches(tx, ctx, filter) : [...new Set(recordingIds)];
  const where = Prisma.join([...scopeWhere("r", visibleTo(ctx)), Prisma.sql`r.id = ANY(${ids})`], " AND ");
  await tx.$queryRaw`SELECT r.id FROM "Recording" r WHERE ${where} ORDER BY r.id FOR UPDATE`;
  const rows = await tx.$queryRaw<SelectedRecording[]>`
    SELECT r.id, r."orgId", r."projectId", r."deviceId", r.key, r.path, r."importStatus", r."importId", r."storedDamage",
      d.name AS "deviceName", f."versionId", f."agentId"
    FROM "Recording" r LEFT JOIN "Device" d ON d.id = r."deviceId"
    LEFT JOIN "EdgeFile" f ON f."recordingId" = r.id AND coalesce(f."permitExpiresAtNs", 0) <= ${ctx.clock.nowNs()}
    WHERE ${where}`;
  return { rows, missing: ids.length - rows.length };
}

async function findMatches(tx: Transaction, ctx: Ctx, filter: RecordingFilter): Promise<string[]> {
  const query = { ...filter, sortOrder: "asc", limit: bulkLimits.matches + 1, offset: 0 } as const;
  const lists = await planList(ctx, query);
  const ids = await findPage(newTransactionReader(tx), lists, query);
  if (ids.length <= bulkLimits.matches) return ids;
  const count = await countMatches(newTransactionReader(tx), lists);
  return invalid("filter", `matches ${count} recordings; at most ${bulkLimits.matches} can be changed at once`);
}
