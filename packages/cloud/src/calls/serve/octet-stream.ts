import type { Context } from "hono";
import { refuse } from "../../core/errors.ts";

const MEDIA_TYPE = "application/octet-stream";

interface OctetStreamOptions {
  /**
   * Accepts a body without a type as well, as `curl -T` sends it. This is for links only, because browsers send such a body to any site
   * without asking.
   */
  readonly orNone?: boolean;
}

/** Throws UnsupportedMediaType if the body of a request is no file. */
export function requireOctetStream(c: Context, { orNone = false }: OctetStreamOptions = {}): void {
  const given = c.req.header("content-type") ?? (orNone ? MEDIA_TYPE : "");
  if (given.split(";", 1)[0]!.trim().toLowerCase() !== MEDIA_TYPE)
    refuse("UnsupportedMediaType", `send the file with Content-Type: ${MEDIA_TYPE}`);
}

/** Returns the length in bytes; undefined for a chunked body that does not declare it. */
export function contentLength(c: Context): number | undefined {
  const text = c.req.header("content-length");
  return text === undefined ? undefined : Number(text);
}
