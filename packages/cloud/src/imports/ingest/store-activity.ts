// The times of a topic's messages (`maxGapNs`, `activity`) have a table of their own, because lists of topics read the rows of topics and
// do not need a quarter of a kilobyte in each. Recordings that were imported before this was stored get it from `downlink admin reindex
// --all`.

import type { RecordingSummary } from "@downlink/recordings";
import { insertRows } from "../../db/insert-rows.ts";
import type { Transaction } from "../../db/transaction.ts";

const ROWS_PER_STATEMENT = 5000;

/** Stores when the messages of a recording's topics came, and replaces what was stored before. */
export async function storeActivity(tx: Transaction, recordingId: string, { topics }: RecordingSummary): Promise<void> {
  await tx.recordingTopicActivity.deleteMany({ where: { recordingId } });
  const rows = topics
    .filter(({ maxGapNs, activity }) => maxGapNs !== undefined || activity !== undefined)
    .map(({ topic, version, maxGapNs, activity }) => {
      const bytes = activity ? `\\x${Buffer.from(activity).toString("hex")}` : null;
      return { recordingId, topic, version, maxGapNs: maxGapNs ?? null, activity: bytes };
    });
  for (let start = 0; start < rows.length; start += ROWS_PER_STATEMENT)
    await insertRows(tx, "RecordingTopicActivity", rows.slice(start, start + ROWS_PER_STATEMENT));
}
