// A message of SNS is signed with a key whose certificate lies at an address that the message itself names. So the signature proves
// nothing unless that address is one of SNS, which is the only one that has its name and its TLS certificate.

import { verify, X509Certificate } from "node:crypto";
import { z } from "zod";
import type { PublicFetch } from "../../process/outgoing/public-fetch.ts";

const MAX_CERTIFICATES = 16;

export const SnsMessage = z.looseObject({
  Type: z.enum(["Notification", "SubscriptionConfirmation", "UnsubscribeConfirmation"]),
  MessageId: z.string().min(1).max(256),
  TopicArn: z.string(),
  Timestamp: z.iso.datetime(),
  Message: z.string(),
  Subject: z.string().nullish(),
  Token: z.string().optional(),
  SubscribeURL: z.string().optional(),
  SignatureVersion: z.enum(["1", "2"]),
  Signature: z.base64(),
  SigningCertURL: z.string(),
});
export type SnsMessage = z.infer<typeof SnsMessage>;

const signedFields = {
  Notification: ["Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"],
  SubscriptionConfirmation: ["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"],
  UnsubscribeConfirmation: ["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"],
} as const;

/** A certificate has one address only, because it is kept by that: no query, and nothing encoded. */
const CERTIFICATE = /^\/[\w./-]+\.pem$/;

const digests = { 1: "sha1", 2: "sha256" } as const;

/** Checks the signatures of messages, and keeps the certificates that it fetched. */
export class SnsSignatures {
  readonly #fetch: PublicFetch;
  readonly #certificates = new Map<string, X509Certificate>();

  constructor(fetch: PublicFetch) {
    this.#fetch = fetch;
  }

  /** Returns what is wrong with the signature, or undefined. Throws what the fetching of the certificate throws. */
  async findFault(message: SnsMessage, nowMs: number): Promise<string | undefined> {
    const url = snsUrl(message.SigningCertURL);
    if (!url || !CERTIFICATE.test(`${url.pathname}${url.search}${url.hash}`))
      return "SigningCertURL is no certificate of SNS";
    const certificate = await this.#certificateAt(url);
    if (!certificate) return "SigningCertURL holds no certificate";
    if (nowMs < certificate.validFromDate.getTime() || nowMs > certificate.validToDate.getTime())
      return "the certificate of the signature is not valid now";
    const signed = Buffer.from(textToSign(message), "utf8");
    const signature = Buffer.from(message.Signature, "base64");
    const isRight = verify(digests[message.SignatureVersion], signed, certificate.publicKey, signature);
    return isRight ? undefined : "the signature does not match the message";
  }

  async #certificateAt(url: URL): Promise<X509Certificate | undefined> {
    const known = this.#certificates.get(url.href);
    if (known) return known;
    const text = await this.#fetch(url);
    const certificate = parseCertificate(text);
    if (!certificate) return undefined;
    if (this.#certificates.size >= MAX_CERTIFICATES) this.#certificates.clear();
    this.#certificates.set(url.href, certificate);
    return certificate;
  }
}

/** Returns the address if it is one of SNS itself, in any region. */
export function snsUrl(text: string | undefined): URL | undefined {
  const url = text === undefined ? null : URL.parse(text);
  if (url?.protocol !== "https:" || url.port !== "" || url.username !== "" || url.password !== "") return undefined;
  return /^sns\.[a-z0-9-]+\.amazonaws\.com(\.cn)?$/.test(url.hostname) ? url : undefined;
}

function textToSign(message: SnsMessage): string {
  return signedFields[message.Type]
    .filter((name) => message[name] !== undefined && message[name] !== null)
    .map((name) => `${name}\n${message[name]}\n`)
    .join("");
}

function parseCertificate(text: string): X509Certificate | undefined {
  try {
    return new X509Certificate(text);
  } catch {
    return undefined;
  }
}
