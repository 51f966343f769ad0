import { z } from "zod";
import { apiKey, operation } from "../operations/operation.ts";
import { Credential } from "../shapes/credentials.ts";
import { page } from "../shapes/list.ts";
import { Id, knownText, StorableText } from "../shapes/text.ts";
import { TimeBound, Timestamp } from "../shapes/time.ts";

/** The events that a webhook may receive; `ping` is sent on request only. spec: Events */
export const webhookEventTypes = [
  "recording.created",
  "recording.imported",
  "recording.importFailed",
  "recording.deleted",
  "recording.damaged",
  "session.created",
  "device.created",
  "device.updated",
  "device.offline",
  "event.created",
  "event.updated",
  "dataset.committed",
  "trainingSet.ready",
  "trainingSet.failed",
  "webhook.disabled",
] as const;
export type WebhookEventType = (typeof webhookEventTypes)[number];

/** For so long a delivery can be listed and sent again. */
export const DELIVERY_DAYS = 30;
/** After a rotation the former secret signs, too, for so long. */
export const ROTATION_HOURS = 24;
/** So many bytes of a receiver's answer are kept. */
export const MAX_ANSWER_BYTES = 2048;
/** The most deliveries that one call sends again. */
export const MAX_RETRIED = 10_000;
/** The most webhooks that an organization may have. */
export const MAX_WEBHOOKS = 100;

const Name = StorableText.trim().min(1).max(100);
const Url = StorableText.max(2048).meta({
  description:
    "An https address, kept in its parsed form; never one that leads to a private network, unless the operator allows that network",
  example: "https://example.org/hooks",
});
const EventTypes = z
  .array(z.enum(webhookEventTypes))
  .min(1)
  .max(webhookEventTypes.length)
  .meta({ description: "The types of events that the webhook receives; `ping` always comes" });

export const Webhook = z
  .object({
    id: z.string(),
    name: z.string(),
    url: z.string(),
    eventTypes: z.array(knownText(webhookEventTypes)),
    projectId: z.string().optional().meta({ description: "Absent: events of every project" }),
    enabled: z.boolean(),
    disabledReason: z.string().optional().meta({ description: "Why the service disabled it by itself" }),
    failingSince: Timestamp.optional().meta({
      description: "Since when every attempt has failed; after five days it is disabled",
    }),
    formerSecretUntil: Timestamp.optional().meta({
      description: "Until then the secret before the last rotation signs, too",
    }),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({ id: "Webhook" });
export type Webhook = z.infer<typeof Webhook>;

export const NewWebhook = z
  .object({
    ...Webhook.shape,
    secret: Credential.meta({
      description: "Signs the deliveries, after Standard Webhooks. Shown once, in the answer that creates it",
    }),
  })
  .meta({ id: "NewWebhook" });

export const WebhookDelivery = z
  .object({
    id: z.string().meta({ description: "The `webhookEventId` of the event: an event is delivered once to a webhook" }),
    type: knownText([...webhookEventTypes, "ping"]),
    timestamp: Timestamp.meta({ description: "When the event occurred" }),
    state: z.enum(["waiting", "delivered", "failed"]),
    attempts: z.int(),
    lastAttemptAt: Timestamp.optional(),
    nextAttemptAt: Timestamp.optional().meta({ description: "Absent unless it waits" }),
    statusCode: z.int().optional().meta({ description: "The status of the receiver's last answer" }),
    error: z.string().optional().meta({ description: "Why the last attempt failed" }),
    answer: z
      .string()
      .optional()
      .meta({ description: `The first ${MAX_ANSWER_BYTES} bytes of the receiver's last answer` }),
    durationMs: z.int().optional().meta({ description: "How long the last attempt took" }),
  })
  .meta({ id: "WebhookDelivery" });
export type WebhookDelivery = z.infer<typeof WebhookDelivery>;

const params = z.object({ id: Id });

/**
 * These operations go beyond the specification, which says what is sent but not how one registers. A key that is limited to some projects
 * sees and makes the webhooks of these projects.
 */
export const webhooks = {
  list: operation({
    method: "get",
    path: "/v1/webhooks",
    access: apiKey("webhooks.list", "projects"),
    summary: "List webhooks",
    query: z.object(page),
    response: z.array(Webhook),
  }),
  create: operation({
    method: "post",
    path: "/v1/webhooks",
    makes: { repeat: "secret", idField: "id" },
    access: apiKey("webhooks.create", "projects"),
    audits: "webhook",
    summary: "Register a webhook",
    description: "It receives what happens from now on.",
    body: z.object({
      name: Name,
      url: Url,
      eventTypes: EventTypes,
      projectId: Id.optional().meta({
        description: "Absent: every project; a key that is limited to some must name one",
      }),
      enabled: z.boolean().default(true),
    }),
    response: NewWebhook,
  }),
  get: operation({
    method: "get",
    path: "/v1/webhooks/{id}",
    access: apiKey("webhooks.list", "projects"),
    summary: "Get a webhook",
    params,
    response: Webhook,
  }),
  update: operation({
    method: "patch",
    path: "/v1/webhooks/{id}",
    access: apiKey("webhooks.update", "projects"),
    audits: "webhook",
    summary: "Change, enable or disable a webhook",
    description:
      "Events that occur while it is disabled are never sent; deliveries that waited before are sent once it is enabled again.",
    params,
    body: z.object({
      name: Name.optional(),
      url: Url.optional(),
      eventTypes: EventTypes.optional(),
      enabled: z.boolean().optional(),
    }),
    response: Webhook,
  }),
  delete: operation({
    method: "delete",
    path: "/v1/webhooks/{id}",
    access: apiKey("webhooks.delete", "projects"),
    audits: "webhook",
    summary: "Delete a webhook with its deliveries",
    params,
    response: z.object({ id: z.string() }),
  }),
  rotateSecret: operation({
    method: "post",
    path: "/v1/webhooks/{id}/rotate-secret",
    makes: { repeat: "secret", idField: "id" },
    access: apiKey("webhooks.update", "projects"),
    audits: "webhook",
    summary: "Give a webhook another secret",
    description: `For ${ROTATION_HOURS} hours both secrets sign each delivery, so that a receiver can take the new one at any moment. \`x-webhook-signature\` has room for one, and is of the new one at once.`,
    params,
    response: NewWebhook,
  }),
  ping: operation({
    method: "post",
    path: "/v1/webhooks/{id}/ping",
    audits: "webhook",
    makes: { repeat: "answer", idField: "id" },
    access: apiKey("webhooks.update", "projects"),
    summary: "Send a `ping` to a webhook",
    description: "The outcome is in the list of its deliveries. A disabled webhook receives none (409).",
    params,
    response: WebhookDelivery,
  }),
  listDeliveries: operation({
    method: "get",
    path: "/v1/webhooks/{id}/deliveries",
    access: apiKey("webhooks.list", "projects"),
    summary: "List the deliveries of a webhook within 30 days, the latest first",
    params,
    query: z.object({
      state: z.enum(["waiting", "delivered", "failed"]).optional(),
      type: z.enum([...webhookEventTypes, "ping"]).optional(),
      ...page,
    }),
    response: z.array(WebhookDelivery),
  }),
  retryFailed: operation({
    method: "post",
    path: "/v1/webhooks/{id}/retry-failed",
    audits: "webhook",
    makes: "nothing",
    access: apiKey("webhooks.update", "projects"),
    summary: "Send all failed deliveries of a webhook again, now",
    description: `Takes the deliveries of events since a time, or of the last 30 days. At most ${MAX_RETRIED} by one call, the oldest first. A disabled webhook receives nothing (409).`,
    params,
    body: z.object({ since: TimeBound.optional().meta({ description: "Inclusive" }) }),
    response: z.object({ count: z.int().meta({ description: "How many are sent again" }) }),
  }),
  retryDelivery: operation({
    method: "post",
    path: "/v1/webhooks/{id}/deliveries/{deliveryId}/retry",
    audits: "webhook",
    makes: "nothing",
    access: apiKey("webhooks.update", "projects"),
    summary: "Send a delivery again, now",
    description: "Whatever became of it before. A disabled webhook receives nothing (409).",
    params: z.object({ id: Id, deliveryId: Id }),
    response: WebhookDelivery,
  }),
};
