import { type OutboxEvent, writeEvent } from "../background/outbox/outbox.ts";
import type { Prisma } from "../db/generated/client.ts";
import type { Transaction } from "../db/transaction.ts";

/** The columns of a recording that its events publish. */
export const publishedColumns = {
  id: true,
  orgId: true,
  projectId: true,
  key: true,
  sessionId: true,
  importStatus: true,
  path: true,
  device: { select: { id: true, name: true } },
  edgeSite: { select: { id: true, name: true } },
  site: { select: { id: true, name: true, indexingStrategy: true } },
} as const satisfies Prisma.RecordingSelect;

export type PublishedRecording = Prisma.RecordingGetPayload<{ select: typeof publishedColumns }>;

interface Occurrence {
  readonly type: Extract<OutboxEvent["type"], `recording.${string}`>;
  readonly occurredAtNs: bigint;
  /** Further fields of this type of event. */
  readonly more?: Readonly<Record<string, unknown>>;
}

/** Makes an event about a recording, in the one shape that all of them have. spec: Events */
export function recordingEvent(row: PublishedRecording, { type, occurredAtNs, more }: Occurrence): OutboxEvent {
  const recording = {
    id: row.id,
    key: row.key ?? undefined,
    sessionId: row.sessionId ?? undefined,
    importStatus: row.importStatus,
    path: row.path,
    device: row.device ?? undefined,
    edgeSite: row.edgeSite ?? undefined,
    site: row.site ?? undefined,
  };
  const { orgId, projectId } = row;
  return { type, orgId, projectId, occurredAtNs, payload: { recording, ...more } };
}

/** Publishes an event about a recording as it is now, in the transaction that changed it. */
export async function publishRecording(tx: Transaction, id: string, occurrence: Occurrence): Promise<void> {
  const row = await tx.recording.findUniqueOrThrow({ where: { id }, select: publishedColumns });
  await writeEvent(tx, recordingEvent(row, occurrence));
}
