import type { Webhook, WebhookDelivery } from "@downlink/protocol";
import type { Complete } from "../../core/complete.ts";
import type { Prisma } from "../../db/generated/client.ts";
import type { WebhookModel } from "../../db/generated/models.ts";

/** The fields of a delivery's event that an answer shows. */
export const withEvent = {
  include: { event: { select: { type: true, occurredAtNs: true } } },
} as const satisfies Prisma.WebhookDeliveryDefaultArgs;

type DeliveryRow = Prisma.WebhookDeliveryGetPayload<typeof withEvent>;

export function toWebhook(row: WebhookModel): Complete<Webhook> {
  return {
    id: row.id,
    name: row.name,
    url: row.url,
    eventTypes: row.eventTypes,
    projectId: row.projectId ?? undefined,
    enabled: row.enabled,
    disabledReason: row.disabledReason ?? undefined,
    failingSince: row.failingSinceNs ?? undefined,
    formerSecretUntil: row.formerUntilNs ?? undefined,
    createdAt: row.createdAtNs,
    updatedAt: row.updatedAtNs,
  };
}

export function toDelivery(row: DeliveryRow): Complete<WebhookDelivery> {
  return {
    id: row.eventId,
    type: row.event.type,
    timestamp: row.event.occurredAtNs,
    state: row.state,
    attempts: row.attempts,
    lastAttemptAt: row.attemptedAtNs ?? undefined,
    nextAttemptAt: row.state === "waiting" ? row.dueAtNs : undefined,
    statusCode: row.statusCode ?? undefined,
    error: row.error ?? undefined,
    answer: row.answer ?? undefined,
    durationMs: row.tookMs ?? undefined,
  };
}
