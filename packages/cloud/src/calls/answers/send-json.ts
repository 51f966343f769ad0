// Answers in JSON above 1 kB are compressed as the receiver accepts it, outside of the event loop; links never are. A GET has a weak
// `ETag`, except for lists above 1 MiB, which are sent while they are read, and for answers that may hold a token or a signed link
// (`Credential` of the contract), which are `no-store`.

import { hash } from "node:crypto";
import type { Context } from "hono";
import type { Env } from "../connections/env.ts";
import { type ContentCoding, chooseCoding, encodeContent } from "./content-coding.ts";

/** Below this size a coding costs more than it saves. */
const LEAST_ENCODED_BYTES = 1024;
const JSON_TYPE = { "Content-Type": "application/json" };

/** An answer in JSON, with all that its headers say of it. */
export interface PreparedJson {
  readonly body: string | Uint8Array<ArrayBuffer>;
  /** Undefined: the answer may not be kept. */
  readonly etag: string | undefined;
  readonly cacheControl: string;
  readonly encode: (coding: ContentCoding) => Promise<Uint8Array<ArrayBuffer>>;
}

/**
 * Answers with JSON, encoded as the receiver accepts it. If the answer may be cached it has a weak `ETag`, so that a client that has this
 * very answer gets only a 304. A cache must ask again each time: the answer is of one caller, and of one moment.
 */
export function sendJson(
  c: Context<Env>,
  text: string | Uint8Array<ArrayBuffer>,
  { mayBeKept }: { mayBeKept: boolean },
): Promise<Response> {
  const etag = mayBeKept ? tagOf(text) : undefined;
  const encodeText = (coding: ContentCoding) => encode(text, coding);
  return sendPrepared(c, { body: text, etag, cacheControl: "private, no-cache", encode: encodeText });
}

/** Prepares JSON that is the same for everybody for a while, and is sent again and again: it is encoded once. */
export function prepareJson(body: Uint8Array<ArrayBuffer>, cacheControl: string): PreparedJson {
  const encoded = new Map<ContentCoding, Promise<Uint8Array<ArrayBuffer>>>();
  const encodeOnce = (coding: ContentCoding) => {
    const made = encoded.get(coding) ?? encode(body, coding);
    encoded.set(coding, made);
    return made;
  };
  return { body, etag: tagOf(body), cacheControl, encode: encodeOnce };
}

/** Does what {@link sendJson} does. */
export async function sendPrepared(c: Context<Env>, prepared: PreparedJson): Promise<Response> {
  const { body, etag } = prepared;
  if (etag !== undefined && isKnown(c.req.header("if-none-match"), etag)) {
    setHeaders(c, prepared);
    return c.body(null, 304);
  }
  const coding = chooseCoding(c.req.header("accept-encoding"));
  if (coding === undefined || Buffer.byteLength(body) <= LEAST_ENCODED_BYTES) {
    setHeaders(c, prepared);
    return c.body(body, 200, JSON_TYPE);
  }
  const encoded = await prepared.encode(coding);
  setHeaders(c, { ...prepared, coding });
  return c.body(encoded, 200, JSON_TYPE);
}

interface Described extends Pick<PreparedJson, "etag" | "cacheControl"> {
  readonly coding?: ContentCoding;
}

/**
 * The headers are set on Node's own response: with more than one header of Hono's, each answer would make a `Headers`, which takes longer
 * than looking the response up.
 */
function setHeaders({ env: { outgoing } }: Context<Env>, { etag, cacheControl, coding }: Described): void {
  if (outgoing.headersSent) return; // the caller went away while the answer was encoded
  outgoing.setHeader("Vary", "Authorization, Accept-Encoding");
  if (coding) outgoing.setHeader("Content-Encoding", coding);
  if (etag === undefined) return;
  outgoing.setHeader("ETag", etag);
  outgoing.setHeader("Cache-Control", cacheControl);
}

async function encode(text: string | Uint8Array, coding: ContentCoding): Promise<Uint8Array<ArrayBuffer>> {
  const body = typeof text === "string" ? Buffer.from(text) : text;
  return (await encodeContent(body, coding)) as Uint8Array<ArrayBuffer>;
}

/** The tag is weak, because it is the same for all codings. */
export function tagOf(body: string | Uint8Array): string {
  return `W/"${hash("sha256", body, "base64url").slice(0, 22)}"`;
}

/** Compares weakly. spec: RFC 9110 §13.1.2 */
export function isKnown(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const opaque = (tag: string) => tag.trim().replace(/^W\//, "");
  return ifNoneMatch.split(",").some((tag) => tag.trim() === "*" || opaque(tag) === opaque(etag));
}
