// Stored bytes are sent as attachments under a sandbox. Their media type is what some device said, so what a browser would run (pages,
// scripts, styles) is sent as plain bytes, because one of our own pages may refer to it.

import type { Context } from "hono";
import { ApiError } from "../../core/errors.ts";
import type { ByteRange } from "../../store/blobs/blob-store.ts";
import { type StreamOptions, streamBody } from "../answers/stream-response.ts";
import type { Env } from "../connections/env.ts";
import { contentDisposition } from "./content-disposition.ts";
import type { Sendable } from "./slice-of.ts";

const MEDIA_TYPE = /^[\w.+-]+\/[\w.+-]+(; ?charset=[\w-]+)?$/i;
/** A browser runs pages, scripts and styles, also if one of our own pages refers to them. */
const ACTIVE = /html|xml|svg|script|css|multipart|message/i;
const RANGE = /^bytes=(?<first>\d{0,15})-(?<last>\d{0,15})$/i;

export interface Download extends Pick<StreamOptions, "controller" | "onFailure"> {
  /** The tag without quotes. */
  readonly etag: string;
  /** The media type as the device said it; an invalid one, and one that a browser would run, becomes application/octet-stream. */
  readonly mediaType: string;
  /** The name of the file at the receiver; any text is allowed. */
  readonly fileName: string;
  /** How long the receiver may use it without asking again. Absent: not at all. */
  readonly freshSeconds?: number;
}

/**
 * Answers GET or HEAD with a stored object: whole (200), one range of it (206), or nothing because the receiver has it (304). The body is
 * never content-encoded; a failure in the middle of the stream aborts the connection. Closes the reader. Throws RangeNotSatisfiable. spec:
 * RFC 9110 §13, §14
 */
export async function sendBlob(c: Context<Env>, reader: Sendable, download: Download): Promise<Response> {
  await using source = reader;
  const { sizeBytes } = source;
  const common = commonHeaders(download);
  if (isKnown(c.req.header("if-none-match"), download.etag)) return c.body(null, 304, common);
  const range = wantedRange(c, sizeBytes, download.etag);
  if (range === "unsatisfiable") throw newOutsideError(c, sizeBytes);
  const controller = download.controller ?? new AbortController();
  const sent = range ?? { start: 0, endInclusive: sizeBytes - 1 };
  const partial = range && { "Content-Range": `bytes ${range.start}-${range.endInclusive}/${sizeBytes}` };
  return await streamBody(c, source.stream(sent, controller.signal), {
    status: range ? 206 : 200,
    headers: { ...common, ...partial, "Content-Length": String(sent.endInclusive - sent.start + 1) },
    controller,
    onFailure: download.onFailure,
    onSent: giveBack,
  });
}

/** Without this, V8 would look for garbage after each few dozen megabytes that were sent. */
function giveBack({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}

/** The bytes and their type come from devices: a browser may save them, and must never show or run them as a part of our own site. */
function commonHeaders({ etag, mediaType, fileName, freshSeconds }: Download): Record<string, string> {
  return {
    ETag: `"${etag}"`,
    "Accept-Ranges": "bytes",
    "Cache-Control": `private, ${freshSeconds === undefined ? "" : `max-age=${freshSeconds}, `}no-transform`,
    "Content-Type": MEDIA_TYPE.test(mediaType) && !ACTIVE.test(mediaType) ? mediaType : "application/octet-stream",
    "Content-Disposition": contentDisposition(fileName),
    "Content-Security-Policy": "sandbox",
    "X-Content-Type-Options": "nosniff",
  };
}

/** Says whether the receiver has this very object; weak and strong tags are treated alike. */
function isKnown(ifNoneMatch: string | undefined, etag: string): boolean {
  const tags = ifNoneMatch?.split(",").map((tag) => tag.trim().replace(/^W\//, "")) ?? [];
  return tags.includes("*") || tags.includes(`"${etag}"`);
}

/** A range counts for GET only, and with If-Range only while the object is still the one of which the receiver has the beginning. */
function wantedRange(c: Context, sizeBytes: number, etag: string): ByteRange | "unsatisfiable" | undefined {
  const ifRange = c.req.header("if-range");
  if (c.req.method === "HEAD" || (ifRange !== undefined && ifRange !== `"${etag}"`)) return undefined;
  return parseRange(c.req.header("range"), sizeBytes);
}

function newOutsideError(c: Context, sizeBytes: number): ApiError {
  c.header("Content-Range", `bytes */${sizeBytes}`);
  return new ApiError("RangeNotSatisfiable", `the range lies outside of the object's ${sizeBytes} bytes`);
}

/**
 * Reads a `Range` header: returns one range, `"unsatisfiable"` for a range that lies outside of the object, or undefined if the whole
 * object is to be sent: without a header, with several ranges (which a server may ignore), and with a malformed one. spec: RFC 9110 §14
 */
export function parseRange(header: string | undefined, sizeBytes: number): ByteRange | "unsatisfiable" | undefined {
  const found = RANGE.exec(header?.replaceAll(" ", "") ?? "")?.groups as { first: string; last: string } | undefined;
  if (!found || (found.first === "" && found.last === "")) return undefined;
  if (found.first === "") return toRange(Math.max(0, sizeBytes - Number(found.last)), sizeBytes - 1);
  const start = Number(found.first);
  const last = found.last === "" ? Number.POSITIVE_INFINITY : Number(found.last);
  if (last < start) return undefined;
  return toRange(start, Math.min(last, sizeBytes - 1));
}

function toRange(start: number, endInclusive: number): ByteRange | "unsatisfiable" {
  return start <= endInclusive ? { start, endInclusive } : "unsatisfiable";
}
