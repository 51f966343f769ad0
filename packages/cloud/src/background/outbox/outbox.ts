import type { WebhookEventType } from "@downlink/protocol";
import { newId } from "../../db/ids.ts";
import { insertRows } from "../../db/insert-rows.ts";
import type { Transaction } from "../../db/transaction.ts";

export interface OutboxEvent {
  readonly type: WebhookEventType;
  readonly orgId: string;
  /** Null: the event is about the whole organization, and only webhooks without a project receive it. */
  readonly projectId: string | null;
  readonly occurredAtNs: bigint;
  readonly payload: Record<string, unknown>;
}

/**
 * Writes an event for others in the transaction of the change itself: the two commit together or not at all. A trigger makes its deliveries
 * (`prisma/functions/webhook-deliveries.sql`).
 */
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
