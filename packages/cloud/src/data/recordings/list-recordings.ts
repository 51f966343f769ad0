import type { Recording } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import { findPage } from "../../calls/search/find-page.ts";
import { isFirstPage } from "../../calls/search/first-page.ts";
import type { Clock } from "../../core/clock.ts";
import type { Complete } from "../../core/complete.ts";
import { type Batches, FEW, readInBatches } from "../../db/read-in-batches.ts";
import { newPoolReader } from "../../db/read-sql.ts";
import { sortByIds } from "../../db/sort-by-ids.ts";
import { selectDevice } from "../../fleet/devices/find-device.ts";
import { planListOf } from "./find-recordings.ts";
import type { ListQuery } from "./recording-filters.ts";
import {
  selectOldestOfDevice,
  selectOldestRecordings,
  selectRecordingRows,
  selectSmallRecordingRows,
  toRecording,
} from "./recording-rows.ts";

type Answered = Complete<Recording>[] | Batches<Complete<Recording>>;

/** Finds first the ids of the page, from narrow rows that are sorted in memory, and then the page itself. */
export async function listRecordings(ctx: Ctx, query: ListQuery): Promise<Answered> {
  const first = isFirstPage(ctx, query, ["deviceId"]) ? await readFirst(ctx, query) : undefined;
  if (first) return first;
  const device = query.deviceId ? { id: query.deviceId } : await selectDevice(ctx, query);
  const ids = await findPage(newPoolReader(ctx.db), await planListOf(ctx, query, { device }), query);
  if (ids.length === 0) await selectDevice(ctx, query); // otherwise the recordings that were found prove that the device exists
  return (await readFew(ctx, ids)) ?? readInBatches(ids, (some) => readRecordings(ctx, some));
}

/** Returns undefined if there are none, or if one is large. */
async function readFirst(
  { caller, db, clock }: Ctx,
  { deviceId, limit }: ListQuery,
): Promise<Complete<Recording>[] | undefined> {
  if (deviceId === "") return undefined;
  const rows = deviceId
    ? await selectOldestOfDevice(db, { orgId: caller.orgId, limit, deviceId })
    : await selectOldestRecordings(db, { orgId: caller.orgId, limit });
  return rows.length > 0 && rows.every(({ metadata }) => metadata !== null) ? showAll(rows, clock) : undefined;
}

/** Reads all at once if they are few and small. */
async function readFew({ db, clock }: Ctx, ids: readonly string[]): Promise<Complete<Recording>[] | undefined> {
  if (ids.length > FEW) return undefined;
  const rows = await selectSmallRecordingRows(db, { ids });
  return rows.length === ids.length ? showAll(sortByIds(ids, rows), clock) : undefined;
}

async function readRecordings({ db, clock }: Ctx, ids: readonly string[]): Promise<Complete<Recording>[]> {
  return showAll(sortByIds(ids, await selectRecordingRows(db, { ids })), clock);
}

function showAll(rows: Awaited<ReturnType<typeof selectRecordingRows>>, clock: Clock): Complete<Recording>[] {
  const nowNs = clock.nowNs();
  return rows.map((row) => toRecording(row, nowNs));
}
