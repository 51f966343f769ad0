// A message has the fields of the specification, under their names there and under those that existing receivers read. The signatures are
// those of Standard Webhooks (https://www.standardwebhooks.com), and the older one of the body alone.

import { createHmac } from "node:crypto";
import { formatTimestamp } from "@downlink/protocol";
import type { Post } from "../../process/outgoing/outgoing-posts.ts";

export interface DueDelivery {
  readonly eventId: string;
  readonly type: string;
  readonly projectId: string | null;
  readonly payload: object;
  readonly occurredAtNs: bigint;
}

export interface Receiver {
  readonly id: string;
  readonly url: string;
  readonly secret: Uint8Array;
  /** Signs, too, for a while after a rotation. */
  readonly formerSecret?: Uint8Array | undefined;
}

const SECRET_PREFIX = "whsec_";
const NS_PER_SECOND = 1_000_000_000n;

/** Returns the secret as it is shown once. */
export function secretText(secret: Uint8Array): string {
  return `${SECRET_PREFIX}${Buffer.from(secret).toString("base64")}`;
}

/** Each attempt has a time and a signature of its own; the id of the event stays. */
export function messageOf(receiver: Receiver, delivery: DueDelivery, nowNs: bigint): Post {
  const body = JSON.stringify(bodyOf(receiver, delivery, formatTimestamp(nowNs)));
  const timestamp = String(nowNs / NS_PER_SECOND);
  const secrets = [receiver.secret, ...(receiver.formerSecret ? [receiver.formerSecret] : [])];
  const signed = `${delivery.eventId}.${timestamp}.${body}`;
  return {
    url: receiver.url,
    body,
    headers: {
      "content-type": "application/json",
      "user-agent": "Downlink-Webhooks/1",
      "webhook-id": delivery.eventId,
      "webhook-timestamp": timestamp,
      "webhook-signature": secrets.map((secret) => `v1,${hmacOf(secret, signed)}`).join(" "),
      "x-webhook-signature": createHmac("sha256", secretText(receiver.secret)).update(body).digest("hex"),
    },
  };
}

function hmacOf(secret: Uint8Array, signed: string): string {
  return createHmac("sha256", secret).update(signed).digest("base64");
}

function bodyOf(receiver: Receiver, { eventId, type, projectId, payload, occurredAtNs }: DueDelivery, now: string) {
  return {
    type,
    timestamp: formatTimestamp(occurredAtNs),
    ...{ attemptedAt: now, deliveryAttemptedAt: now },
    ...{ webhookEventId: eventId, eventId, webhookId: receiver.id },
    ...(projectId !== null && { projectId }),
    ...payload,
  };
}
