import type { Database } from "../../db/client.ts";
import type { WebhookModel } from "../../db/generated/models.ts";

type Shown = "id" | "orgId" | "name" | "url" | "enabled" | "disabledReason" | "failingSinceNs";

/** The last attempt at a webhook. */
interface LastAttempt {
  /** As text, because a JSON number does not hold nanoseconds. */
  readonly atNs: string;
  /** Null: nothing answered. */
  readonly statusCode: number | null;
  /** Null: the receiver took the delivery. */
  readonly error: string | null;
  /** The beginning of the answer. */
  readonly answer: string | null;
}

export interface WebhookCounts extends Pick<WebhookModel, Shown> {
  readonly waiting: number;
  readonly failed: number;
  /** When the event of the oldest delivery in this state occurred; null: there is none. */
  readonly oldestWaitingNs: bigint | null;
  readonly oldestFailedNs: bigint | null;
  readonly last: LastAttempt | null;
}

/** Counts what waits and what failed of the webhooks of all organizations: first of those that the service disabled, then of those that fail. */
export async function countDeliveries({ prisma }: Pick<Database, "prisma">, most: number): Promise<WebhookCounts[]> {
  return prisma.$queryRaw<WebhookCounts[]>`
    SELECT w."id", w."orgId", w."name", w."url", w."enabled", w."disabledReason", w."failingSinceNs", d.*, l.*
    FROM (
      SELECT *, row_number() OVER (
        ORDER BY "enabled" OR "disabledReason" IS NULL, "failingSinceNs" IS NULL, "createdAtNs", "id") AS place
      FROM "Webhook" ORDER BY place LIMIT ${most}
    ) w CROSS JOIN LATERAL (
      SELECT count(*) FILTER (WHERE d."state" = 'waiting')::int AS waiting, count(*) FILTER (WHERE d."state" = 'failed')::int AS failed,
        min(e."occurredAtNs") FILTER (WHERE d."state" = 'waiting') AS "oldestWaitingNs",
        min(e."occurredAtNs") FILTER (WHERE d."state" = 'failed') AS "oldestFailedNs"
      FROM "WebhookDelivery" d JOIN "OutboxEvent" e ON e."id" = d."eventId"
      WHERE d."webhookId" = w."id" AND d."state" <> 'delivered'
    ) d LEFT JOIN LATERAL (
      SELECT json_build_object('atNs', "attemptedAtNs"::text, 'statusCode', "statusCode", 'error', "error", 'answer', "answer") AS last
      FROM "WebhookDelivery" WHERE "webhookId" = w."id" AND "attemptedAtNs" IS NOT NULL ORDER BY "attemptedAtNs" DESC LIMIT 1
    ) l ON TRUE
    ORDER BY w.place`;
}
