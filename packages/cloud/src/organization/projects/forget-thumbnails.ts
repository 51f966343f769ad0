import type { Ctx } from "../../calls/context/context.ts";
import { withTransaction } from "../../db/transaction.ts";

const ROWS_A_STATEMENT = 2000;

/** Removes the thumbnails of a project that it makes no longer: all, or those of recordings in customers' buckets. */
export async function forgetThumbnails(
  { db, jobs }: Pick<Ctx, "db" | "jobs">,
  projectId: string,
  makes: "own" | "none",
): Promise<void> {
  let count: number;
  do {
    count = await withTransaction(db, async (tx) => {
      const rows = await tx.$queryRaw<{ blobKey: string | null }[]>`
        DELETE FROM "RecordingThumbnails" WHERE "recordingId" IN (
          SELECT t."recordingId" FROM "RecordingThumbnails" t JOIN "Recording" r ON r.id = t."recordingId"
          WHERE r."projectId" = ${projectId} AND (${makes} = 'none' OR r."location" IS NOT NULL) LIMIT ${ROWS_A_STATEMENT})
        RETURNING "blobKey"`;
      await jobs.enqueueRemovals(
        tx,
        rows.flatMap(({ blobKey }) => blobKey ?? []),
      );
      return rows.length;
    });
  } while (count === ROWS_A_STATEMENT);
}
