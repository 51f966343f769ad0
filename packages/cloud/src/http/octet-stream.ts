import type { Context } from "hono";
import { refuse } from "../core/errors.ts";

const MEDIA_TYPE = "application/octet-stream";

interface Options {
  /** Takes a body that says no type, too, as `curl -T` sends it; for links alone: browsers send one anywhere without asking. */
  readonly orNone?: boolean;
}

/** Throws UnsupportedMediaType where the body of a request is no file. */
export function requireOctetStream(c: Context, { orNone = false }: Options = {}): void {
  const given = c.req.header("content-type") ?? (orNone ? MEDIA_TYPE : "");
  if (given.split(";", 1)[0]!.trim().toLowerCase() !== MEDIA_TYPE)
    refuse("UnsupportedMediaType", `send the file with Content-Type: ${MEDIA_TYPE}`);
}

/** Bytes; undefined for a body that comes in chunks without saying its length. */
export function contentLength(c: Context): number | undefined {
  const text = c.req.header("content-length");
  return text === undefined ? undefined : Number(text);
}
