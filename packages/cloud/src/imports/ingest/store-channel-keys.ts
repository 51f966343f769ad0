import type { RecordingSummary } from "@downlink/recordings";
import type { Transaction } from "../../db/transaction.ts";

/** Stores what tells the channels of topics apart, for recordings whose topics were stored before it was. */
export async function storeChannelKeys(
  tx: Transaction,
  recordingId: string,
  { topics }: RecordingSummary,
): Promise<void> {
  const keys = topics.filter(({ channelsKey }) => channelsKey !== undefined);
  const rows = JSON.stringify(keys.map(({ topic, version, channelsKey }) => ({ topic, version, channelsKey })));
  await tx.$executeRaw`
    UPDATE "RecordingTopic" t SET "channelsKey" = k."channelsKey"
    FROM jsonb_to_recordset(${rows}::jsonb) AS k(topic text, version text, "channelsKey" text)
    WHERE t."recordingId" = ${recordingId} AND t.topic = k.topic AND t.version = k.version`;
}
