import type { Context } from "hono";
import { refuse } from "./errors.ts";

const MEDIA_TYPE = "application/octet-stream";

/** Of a request whose body is a file. Throws UnsupportedMediaType. */
export function requireOctetStream(c: Context): void {
  const given = c.req.header("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (given !== MEDIA_TYPE) refuse("UnsupportedMediaType", `send the file with Content-Type: ${MEDIA_TYPE}`);
}

/** Bytes; undefined for a body that comes in chunks without saying its length. */
export function contentLength(c: Context): number | undefined {
  const text = c.req.header("content-length");
  return text === undefined ? undefined : Number(text);
}
