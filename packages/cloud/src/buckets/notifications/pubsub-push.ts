import { createLocalJWKSet, errors, type JSONWebKeySet, jwtVerify } from "jose";
import { z } from "zod";
import { PublicFetchError } from "../../process/outgoing/allowed-address.ts";
import type { PublicFetch } from "../../process/outgoing/public-fetch.ts";
import type { ObjectNotification } from "./object-notification.ts";

const GOOGLE_KEYS = new URL("https://www.googleapis.com/oauth2/v3/certs");
const ISSUERS = ["https://accounts.google.com", "accounts.google.com"];
/** A token with a key that we do not know makes us fetch the keys again, at most this often. */
const FETCH_AGAIN_MS = 60_000;

/** A push of Google Pub/Sub about an object in Cloud Storage. */
export const PubsubPush = z.looseObject({
  message: z.looseObject({ messageId: z.string().min(1).max(256), attributes: z.record(z.string(), z.string()) }),
  subscription: z.string(),
});
export type PubsubPush = z.infer<typeof PubsubPush>;

/** Returns what the push says of an object that came or went; of other changes it says nothing. */
export function readPubsub({ message: { messageId, attributes } }: PubsubPush): ObjectNotification[] {
  const { eventType, bucketId: bucketName, objectId: fileName } = attributes;
  const isOfObject = eventType === "OBJECT_FINALIZE" || eventType === "OBJECT_DELETE" || eventType === "OBJECT_ARCHIVE";
  if (!isOfObject || !bucketName || !fileName) return [];
  return [{ messageId: `pubsub ${messageId}`, providers: ["google_cloud"], bucketName, fileName }];
}

interface Sender {
  readonly audience: string;
  readonly serviceAccount: string;
}

/** Checks the tokens by which Pub/Sub proves itself, and keeps Google's keys. */
export class PubsubTokens {
  readonly #fetch: PublicFetch;
  #keys: ReturnType<typeof createLocalJWKSet> | undefined;
  #fetchedMs = Number.NEGATIVE_INFINITY;

  constructor(fetch: PublicFetch) {
    this.#fetch = fetch;
  }

  /** Returns what is wrong with the token, or undefined. Throws what the fetching of Google's keys throws. */
  async findFault(token: string, sender: Sender, nowMs: number): Promise<string | undefined> {
    try {
      const { payload } = await this.#verify(token, sender, nowMs);
      const isSender = payload.email === sender.serviceAccount && payload.email_verified === true;
      return isSender ? undefined : "the token of Pub/Sub is of another service account";
    } catch (error) {
      if (error instanceof errors.JOSEError) return `the token of Pub/Sub is not valid: ${error.message}`;
      throw error;
    }
  }

  async #verify(token: string, { audience }: Sender, nowMs: number) {
    const options = { issuer: ISSUERS, audience, algorithms: ["RS256"], currentDate: new Date(nowMs) };
    try {
      return await jwtVerify(token, this.#keys ?? (await this.#fetchKeys(nowMs)), options);
    } catch (error) {
      const mayBeNew = error instanceof errors.JWKSNoMatchingKey && nowMs - this.#fetchedMs >= FETCH_AGAIN_MS;
      if (!mayBeNew) throw error;
      return await jwtVerify(token, await this.#fetchKeys(nowMs), options);
    }
  }

  async #fetchKeys(nowMs: number) {
    this.#keys = readKeys(await this.#fetch(GOOGLE_KEYS));
    this.#fetchedMs = nowMs;
    return this.#keys;
  }
}

function readKeys(text: string) {
  try {
    return createLocalJWKSet(JSON.parse(text) as JSONWebKeySet);
  } catch {
    throw new PublicFetchError(`${GOOGLE_KEYS.host} answered no keys`);
  }
}
