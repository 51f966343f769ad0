import type { Recording } from "@downlink/protocol";
import type { Ctx } from "../context.ts";
import { type Batches, FEW, inBatches } from "../db/in-batches.ts";
import { inOrderOf } from "../db/in-order-of.ts";
import { readingFrom } from "../db/read-sql.ts";
import { findPage } from "../search/find-page.ts";
import { planList } from "./find-recordings.ts";
import type { ListQuery } from "./recording-filters.ts";
import { selectRecordingRows, selectSmallRecordingRows, toRecording } from "./recording-rows.ts";

/** The ids of the page first, from narrow rows that sort in memory; then the page itself. */
export async function listRecordings(ctx: Ctx, query: ListQuery): Promise<Recording[] | Batches<Recording>> {
  const ids = await findPage(readingFrom(ctx.db), await planList(ctx, query), query);
  return (await readFew(ctx, ids)) ?? inBatches(ids, (some) => readRecordings(ctx, some));
}

/** All at once, where they are few and small. */
async function readFew({ db }: Ctx, ids: readonly string[]): Promise<Recording[] | undefined> {
  if (ids.length > FEW) return undefined;
  const rows = await selectSmallRecordingRows(db, [ids]);
  return rows.length === ids.length ? inOrderOf(ids, rows).map(toRecording) : undefined;
}

async function readRecordings({ db }: Ctx, ids: readonly string[]): Promise<Recording[]> {
  return inOrderOf(ids, await selectRecordingRows(db, [ids])).map(toRecording);
}
