import { webhookEvents } from "../resources/webhook-events.ts";
import { MAX_ANSWER_BYTES } from "../resources/webhooks.ts";
import { exampleOf } from "./openapi-example.ts";
import { type Json, jsonContent, wire } from "./wire-schema.ts";

/** The headers of each delivery, under their names in the components of the document. */
const headers = {
  "webhook-id": "The `webhookEventId`: the same in each attempt",
  "webhook-timestamp": "When this attempt was made, in seconds since 1970",
  "webhook-signature":
    "Signatures after Standard Webhooks, separated by spaces: `v1,` and the Base64 of the HMAC-SHA256 over `id.timestamp.body`",
  "x-webhook-signature": "The HMAC-SHA256 of the body alone, in hex, whose key is the whole text of the secret",
} as const;

/** Answers of a receiver, and what follows from them. */
const responses = {
  "2XX": {
    description: `The receiver took the event, if it answers within five seconds. The first ${MAX_ANSWER_BYTES} bytes of the answer are kept for the list of deliveries.`,
  },
  "410": { description: "The receiver is gone: the webhook is disabled at once." },
  default: {
    description:
      "The attempt failed, as it does without an answer. It is repeated later, and not before a `Retry-After`.",
  },
} as const;

export function deliveryHeaders(): Json {
  return Object.fromEntries(
    Object.entries(headers).map(([name, description]) => [
      name,
      { name, in: "header", required: true, schema: { type: "string" }, description },
    ]),
  );
}

/** Returns the events as OpenAPI 3.1 has them: each is a request that the service makes to a receiver. */
export function describeWebhooks(schemas: Json): Json {
  const parameters = Object.keys(headers).map((name) => ({ $ref: `#/components/parameters/${name}` }));
  const entries = Object.entries(webhookEvents).map(([type, { summary, description = summary, body }]) => {
    const schema = wire(body, schemas);
    const requestBody = {
      required: true,
      content: jsonContent(schema, exampleOf(schema, schemas, { owner: "webhook" })),
    };
    const about = { operationId: `webhookEvents.${type}`, tags: ["webhooks"], summary, description, security: [] };
    return [type, { post: { ...about, parameters, requestBody, responses } }];
  });
  return Object.fromEntries(entries);
}
