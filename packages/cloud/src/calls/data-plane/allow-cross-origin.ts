// Pages of other origins may use links in browsers if `DOWNLINK_LINK_ORIGINS` names these origins, without cookies. Export links are open
// to every page, because their holder may have the exported data and the links end after 15 seconds; view links, which last, are not.

import { DAMAGE_HEADER, MISSING_HEADER } from "@downlink/protocol";
import type { Hono, MiddlewareHandler } from "hono";
import { cors } from "hono/cors";
import type { Env } from "../connections/env.ts";

interface Origins {
  readonly linkOrigins: readonly string[];
  readonly apiOrigins: readonly string[];
}

/**
 * Lets pages of other origins call the API with a token, if the operator names these origins. Cookies are never sent, so that a page has only the
 * rights of the token that it was given.
 */
export function allowApiOrigins(app: Hono<Env>, { apiOrigins }: Pick<Origins, "apiOrigins">): void {
  if (apiOrigins.length === 0) return;
  app.use(
    "/v1/*",
    keepVary,
    cors({
      origin: (origin) => (isNamed(apiOrigins, origin) ? origin : null),
      allowMethods: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"],
      allowHeaders: ["authorization", "content-type", "idempotency-key", "if-match", "if-none-match", "traceparent"],
      exposeHeaders: ["*"], // without cookies this stands for all of them, besides Authorization
      maxAge: 3600, // seconds
    }),
  );
}

/** `send-json.ts` writes `Vary` on Node's own response, where that of the answer would take its place. */
const keepVary: MiddlewareHandler<Env> = async (c, next) => {
  await next();
  const { outgoing } = c.env;
  const vary = outgoing.headersSent ? undefined : outgoing.getHeader("vary");
  if (vary !== undefined) c.res.headers.append("vary", String(vary));
};

function isNamed(origins: readonly string[], origin: string): boolean {
  return origins.includes(origin) || origins.includes("*");
}

/**
 * Lets pages of other origins use links if the operator names these origins. The holder of a link may have the data, but whether a browser
 * may send its user's links to other sites is the operator's decision. Cookies are not sent. spec: Fetch, CORS protocol
 */
export function allowCrossOrigin(app: Hono<Env>, { linkOrigins }: Pick<Origins, "linkOrigins">): void {
  if (linkOrigins.length === 0) return;
  app.use(
    "/data-plane/*",
    cors({
      origin: (origin) => (isNamed(linkOrigins, origin) ? origin : null),
      allowMethods: ["GET", "HEAD", "PUT"],
      allowHeaders: ["content-type", "if-none-match", "if-range", "range"],
      exposeHeaders: [
        ...["accept-ranges", "content-disposition", "content-length", "content-range", "etag"],
        ...[DAMAGE_HEADER, MISSING_HEADER],
      ],
      maxAge: 3600, // seconds
    }),
  );
}
