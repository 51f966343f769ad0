import type { MiddlewareHandler } from "hono";
import { refuse } from "../core/errors.ts";
import type { Env } from "./env.ts";

/** No body is unpacked here: what is small on the wire may be anything. */
export const refuseEncoding: MiddlewareHandler<Env> = (c, next) => {
  const encoding = c.env.incoming.headers["content-encoding"];
  if (encoding !== undefined && encoding.trim().toLowerCase() !== "identity")
    refuse("UnsupportedMediaType", `send the body as it is, not with Content-Encoding: ${encoding.slice(0, 100)}`);
  return next();
};
