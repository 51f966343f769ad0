import { contextOf, type TransactionContext } from "../../background/jobs/transaction-context.ts";
import { IS_OURS } from "../../db/stored-data.ts";
import { withTransaction } from "../../db/transaction.ts";
import { LOST_PRIORITY } from "../../import-life/import-request-rows.ts";
import { findLocked, lockRecording } from "../../import-life/lock-recording.ts";
import { noteLoss, storedFaults } from "../../import-life/lost-data.ts";
import type { MarkDeps } from "../../import-life/mark-damaged.ts";
import { queueImport } from "../../import-life/queue-imports.ts";
import type { Finding } from "./finding.ts";

const PAGE = 100;

/** Asks the devices for the files of all recordings whose stored data is damaged, and yields of each whether anybody has its file. */
export async function* repairDamaged(deps: MarkDeps): AsyncGenerator<Finding, void> {
  for (let lastId = ""; ; ) {
    const page = await deps.db.prisma.$queryRaw<{ id: string }[]>`
      SELECT id FROM "Recording" WHERE "storedDamage" IS NOT NULL AND ("blobKey" IS NULL OR ${IS_OURS}) AND id > ${lastId}
      ORDER BY id LIMIT ${PAGE}`;
    if (page.length === 0) return;
    for (const { id } of page) {
      const text = await withTransaction(deps.db, (tx) => repair(contextOf(tx, deps), id));
      if (text !== undefined) yield { kind: "damaged data", subject: id, text };
    }
    lastId = page.at(-1)!.id;
  }
}

async function repair(context: TransactionContext, id: string): Promise<string | undefined> {
  const damaged = await findLocked(context.tx, id);
  if (!damaged?.storedDamage) return undefined;
  if (damaged.importStatus === "complete") await noteLoss(context, damaged, storedFaults[damaged.storedDamage]);
  await queueImport(context, { recordingId: id, priority: LOST_PRIORITY });
  const { importStatus, path } = await lockRecording(context.tx, id);
  const isAsked = importStatus === "pending" || importStatus === "importing";
  return `${path}: ${isAsked ? "its device is asked for the file" : "nobody has the file any more; an upload of it repairs the recording"}`;
}
