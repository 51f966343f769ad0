import type { RecordingSummary } from "@downlink/recordings";
import { insertRows } from "../../db/insert-rows.ts";
import type { Transaction } from "../../db/transaction.ts";

/** Stores when a recording has messages, in place of what was known before. */
export async function storeSpans(
  tx: Transaction,
  recordingId: string,
  { spans = [] }: Pick<RecordingSummary, "spans">,
): Promise<void> {
  await tx.recordingSpan.deleteMany({ where: { recordingId } });
  await insertRows(
    tx,
    "RecordingSpan",
    spans.map((span) => ({ recordingId, ...span })),
  );
}
