// Answers in JSON above 1 kB are compressed as the receiver takes it, outside of the event loop; links never are. A
// GET has a weak `ETag`, but for lists above 1 MiB, which are sent while they are read, and for what may hold a
// token or a signed link (`Credential` of the contract): that is `no-store`.

import { hash } from "node:crypto";
import type { Context } from "hono";
import { chooseCoding, encodeContent } from "./content-coding.ts";
import type { Env } from "./env.ts";

/** Below it a coding costs more than it saves. */
const LEAST_ENCODED_BYTES = 1024;

/**
 * Answers with JSON: encoded as the receiver takes it, and where it may be kept with a weak `ETag`, so that who has this very answer
 * is told so and nothing more (304). Whoever keeps it asks again each time: it is of one caller, and of one moment.
 */
export async function sendJson(
  c: Context<Env>,
  text: string | Uint8Array<ArrayBuffer>,
  { mayBeKept }: { mayBeKept: boolean },
): Promise<Response> {
  const validators = mayBeKept ? { ETag: tagOf(text), "Cache-Control": "private, no-cache" } : undefined;
  const common = { Vary: "Authorization, Accept-Encoding", ...validators };
  if (validators && isKnown(c.req.header("if-none-match"), validators.ETag)) return c.body(null, 304, common);
  const headers = { "Content-Type": "application/json", ...common };
  const coding = chooseCoding(c.req.header("accept-encoding"));
  if (!coding || Buffer.byteLength(text) <= LEAST_ENCODED_BYTES) return c.body(text, 200, headers);
  const body = typeof text === "string" ? Buffer.from(text) : text;
  const encoded = (await encodeContent(body, coding)) as Uint8Array<ArrayBuffer>;
  return c.body(encoded, 200, { ...headers, "Content-Encoding": coding });
}

/** Weak, as it is the same for all codings. */
function tagOf(body: string | Uint8Array): string {
  return `W/"${hash("sha256", body, "base64url").slice(0, 22)}"`;
}

/** By weak comparison. spec: RFC 9110 §13.1.2 */
function isKnown(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const opaque = (tag: string) => tag.trim().replace(/^W\//, "");
  return ifNoneMatch.split(",").some((tag) => tag.trim() === "*" || opaque(tag) === opaque(etag));
}
