import type { CursorHeaders, Recording } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import { type CursorPage, closePage, openPage } from "../../calls/search/cursor-page.ts";
import { findPlaces } from "../../calls/search/find-page.ts";
import { isFirstPage, placeByCreation } from "../../calls/search/first-page.ts";
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

interface Answered {
  readonly output: Complete<Recording>[] | Batches<Complete<Recording>>;
  readonly headers: Complete<CursorHeaders>;
}

/** Finds first the ids of the page, from narrow rows that are sorted in memory, and then the page itself. */
export async function listRecordings(ctx: Ctx, query: ListQuery): Promise<Answered> {
  const page = openPage(ctx, "recordings.list", query);
  const first = isFirstPage(ctx, query, ["deviceId"]) ? await readFirst(ctx, query, page) : undefined;
  if (first) return first;
  const device = query.deviceId ? { id: query.deviceId } : await selectDevice(ctx, query);
  const lists = await planListOf(ctx, query, { device, onward: page });
  const found = await findPlaces(newPoolReader(ctx.db), lists, { limit: page.take, offset: page.offset });
  if (found.length === 0) await selectDevice(ctx, query); // otherwise the recordings that were found prove that the device exists
  const { rows, headers } = closePage(ctx, page, found);
  const ids = rows.map(({ id }) => id);
  const few = await readFew(ctx, ids);
  return { output: few ?? readInBatches(ids, (some) => readRecordings(ctx, some)), headers };
}

/** Returns undefined if there are none, or if one is large. */
async function readFirst(ctx: Ctx, { deviceId }: ListQuery, page: CursorPage): Promise<Answered | undefined> {
  if (deviceId === "") return undefined;
  const { caller, db, clock } = ctx;
  const first = { orgId: caller.orgId, limit: page.take };
  const found = deviceId
    ? await selectOldestOfDevice(db, { ...first, deviceId })
    : await selectOldestRecordings(db, first);
  if (found.length === 0 || found.some(({ metadata }) => metadata === null)) return undefined;
  const { rows, headers } = closePage(ctx, page, found.map(placeByCreation));
  return { output: showAll(rows, clock), headers };
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
