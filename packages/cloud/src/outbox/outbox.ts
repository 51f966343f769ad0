import { newId } from "../db/ids.ts";
import { insertRows } from "../db/insert-rows.ts";
import type { Transaction } from "../db/transaction.ts";

export interface OutboxEvent {
  readonly type:
    | "dataset.committed"
    | "device.created"
    | "device.offline"
    | "device.updated"
    | "event.created"
    | "event.updated"
    | "recording.created"
    | "recording.imported"
    | "recording.importFailed"
    | "recording.deleted"
    | "session.created";
  readonly orgId: string;
  readonly projectId: string;
  readonly occurredAtNs: bigint;
  readonly payload: Record<string, unknown>;
}

/** Writes what others must hear of, in the transaction of the change itself: the two commit together or not at all. */
export async function writeEvent(tx: Transaction, event: OutboxEvent): Promise<void> {
  await writeEvents(tx, [event]);
}

export async function writeEvents(tx: Transaction, events: readonly OutboxEvent[]): Promise<void> {
  await insertRows(
    tx,
    "OutboxEvent",
    events.map((event) => ({ ...event, id: newId("whev"), payload: event.payload as object })),
  );
}
