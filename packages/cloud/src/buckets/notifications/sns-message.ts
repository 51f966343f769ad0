import { NOTIFICATION_DAYS } from "@downlink/protocol";
import { ApiError, refuse } from "../../core/errors.ts";
import type { PublicFetch } from "../../process/outgoing/public-fetch.ts";
import type { ObjectNotification } from "./object-notification.ts";
import { readS3Events, S3Events } from "./s3-events.ts";
import { type SnsMessage, SnsSignatures, snsUrl } from "./sns-signature.ts";

const KEPT_MS = NOTIFICATION_DAYS * 86_400_000;

interface Expected {
  /** The topic that the token was made for; null: none. */
  readonly topicArn: string | null;
  readonly nowNs: bigint;
}

/** Proves that messages come from SNS, and accepts the subscription of a topic. */
export class SnsSenders {
  readonly #fetch: PublicFetch;
  readonly #signatures: SnsSignatures;

  constructor(fetch: PublicFetch) {
    this.#fetch = fetch;
    this.#signatures = new SnsSignatures(fetch);
  }

  /**
   * Throws 403 for another topic than the token's, 401 for a message that SNS did not sign, or so long ago that a repeat would not be
   * recognized. Confirms a subscription that the message asks for.
   */
  async prove(message: SnsMessage, { topicArn, nowNs }: Expected): Promise<void> {
    if (topicArn === null)
      refuse("NotificationRefused", "this token takes no messages of SNS: it was made without snsTopicArn");
    if (message.TopicArn !== topicArn)
      refuse("NotificationRefused", `this token takes messages of another topic than ${message.TopicArn}`);
    const nowMs = Number(nowNs / 1_000_000n);
    const fault = await this.#signatures.findFault(message, nowMs);
    if (fault !== undefined) refuse("Unauthenticated", `the message is not from SNS: ${fault}`);
    if (nowMs - Date.parse(message.Timestamp) > KEPT_MS)
      refuse("Unauthenticated", `the message is older than ${NOTIFICATION_DAYS} days`);
    if (message.Type === "SubscriptionConfirmation") await this.#confirm(message);
  }

  async #confirm({ SubscribeURL }: SnsMessage): Promise<void> {
    const url = snsUrl(SubscribeURL);
    if (!url) throw new ApiError("Unauthenticated", "SubscribeURL is no address of SNS");
    await this.#fetch(url);
  }
}

/** Returns what a notification says of objects: it holds the events of a bucket as text. */
export function readSnsMessage({ Type, Message }: SnsMessage): ObjectNotification[] {
  if (Type !== "Notification") return [];
  const events = S3Events.safeParse(parse(Message));
  return events.success ? readS3Events(events.data) : [];
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
