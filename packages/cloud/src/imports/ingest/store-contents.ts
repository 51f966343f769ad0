// Thousands of rows are passed as one JSON parameter in each statement: 65,535 topics take a few seconds, not a minute.

import type { MetadataRecord, RecordingSummary, TopicSummary } from "@downlink/recordings";
import { insertRows } from "../../db/insert-rows.ts";
import type { Transaction } from "../../db/transaction.ts";
import { storeActivity } from "./store-activity.ts";
import { storeSpans } from "./store-spans.ts";
import { type AttachmentOwner, attachmentRow, topicRow } from "./summary-rows.ts";

/** A file may have 65,535 channels and hundreds of thousands of attachments. */
const ROWS_PER_STATEMENT = 5000;
const SCHEMA_BYTES_PER_STATEMENT = 4 * 1024 * 1024;

interface Contents {
  readonly owner: AttachmentOwner;
  readonly summary: RecordingSummary;
}

/**
 * Stores the contents that the cloud read from the stored bytes, in place of those that the agent had reported. So lists never open the
 * file.
 */
export async function storeContents(tx: Transaction, { owner, summary }: Contents): Promise<void> {
  const { orgId, recordingId } = owner;
  await tx.recordingTopic.deleteMany({ where: { recordingId } });
  await tx.recordingAttachment.deleteMany({ where: { recordingId } });
  await storeSchemas(tx, orgId, summary.topics);
  await storeMetadata(tx, recordingId, summary.metadata);
  for (const topics of splitIntoBatches(summary.topics))
    await insertRows(
      tx,
      "RecordingTopic",
      topics.map((topic) => topicRow(owner, summary, topic)),
    );
  await storeActivity(tx, recordingId, summary);
  await storeSpans(tx, recordingId, summary);
  for (const attachments of splitIntoBatches(summary.attachments))
    await insertRows(
      tx,
      "RecordingAttachment",
      attachments.map((attachment) => attachmentRow(owner, attachment)),
    );
}

/** Schema texts are stored by content, once per organization: topics share them, and most exist already. */
async function storeSchemas(tx: Transaction, orgId: string, topics: readonly TopicSummary[]): Promise<void> {
  const schemas = new Map(topics.map(({ schemaSha256, schema }) => [schemaSha256, schema]));
  const known = await tx.$queryRaw<{ sha256: string }[]>`
    SELECT sha256 FROM "SchemaText" WHERE "orgId" = ${orgId} AND sha256 = ANY(${[...schemas.keys()]})`;
  for (const { sha256 } of known) schemas.delete(sha256);
  let rows: { orgId: string; sha256: string; data: Buffer<ArrayBuffer> }[] = [];
  let bytes = 0;
  const inOrder = [...schemas].sort(([one], [other]) => (one < other ? -1 : 1)); // as in agents' reports, so that no transactions deadlock
  for (const [sha256, schema] of inOrder) {
    rows.push({ orgId, sha256, data: Buffer.from(schema) });
    bytes += schema.byteLength;
    if (bytes < SCHEMA_BYTES_PER_STATEMENT && rows.length < ROWS_PER_STATEMENT) continue;
    await tx.schemaText.createMany({ data: rows, skipDuplicates: true });
    [rows, bytes] = [[], 0];
  }
  await tx.schemaText.createMany({ data: rows, skipDuplicates: true });
}

/** The metadata is passed as text, because Prisma leaves out a key named `__proto__`. */
async function storeMetadata(tx: Transaction, recordingId: string, metadata: readonly MetadataRecord[]): Promise<void> {
  if (metadata.length === 0) return;
  const text = JSON.stringify(metadata);
  await tx.$executeRaw`UPDATE "Recording" SET metadata = ${text}::jsonb WHERE id = ${recordingId}`;
}

function* splitIntoBatches<T>(rows: readonly T[]): Generator<readonly T[]> {
  for (let start = 0; start < rows.length; start += ROWS_PER_STATEMENT)
    yield rows.slice(start, start + ROWS_PER_STATEMENT);
}
