import type { MiddlewareHandler } from "hono";
import { refuse } from "../../core/errors.ts";
import type { Env } from "./env.ts";

/** No body is decompressed here: a few bytes on the wire may become any number. */
export const refuseEncoding: MiddlewareHandler<Env> = (c, next) => {
  const encoding = c.env.incoming.headers["content-encoding"];
  if (encoding !== undefined && encoding.trim().toLowerCase() !== "identity")
    refuse("UnsupportedMediaType", `send the body as it is, not with Content-Encoding: ${encoding.slice(0, 100)}`);
  return next();
};
