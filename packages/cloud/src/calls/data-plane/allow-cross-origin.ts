// Pages of other origins may use links in browsers if `DOWNLINK_LINK_ORIGINS` names these origins, without cookies. Export links are open
// to every page, because their holder may have the exported data and the links end after 15 seconds; view links, which last, are not.

import { DAMAGE_HEADER, MISSING_HEADER } from "@downlink/protocol";
import type { Hono } from "hono";
import { cors } from "hono/cors";
import type { Env } from "../http/env.ts";

/**
 * Lets pages of other origins use links if the operator names these origins. The holder of a link may have the data, but whether a browser
 * may send its user's links to other sites is the operator's decision. Cookies are not sent. spec: Fetch, CORS protocol
 */
export function allowCrossOrigin(app: Hono<Env>, { linkOrigins }: { readonly linkOrigins: readonly string[] }): void {
  if (linkOrigins.length === 0) return;
  const isNamed = (origin: string) => linkOrigins.includes(origin) || linkOrigins.includes("*");
  app.use(
    "/data-plane/*",
    cors({
      origin: (origin) => (isNamed(origin) ? origin : null),
      allowMethods: ["GET", "HEAD", "PUT"],
      allowHeaders: ["content-type", "if-none-match", "if-range", "range"],
      exposeHeaders: ["accept-ranges", "content-disposition", "content-range", "etag", DAMAGE_HEADER, MISSING_HEADER],
      maxAge: 3600, // seconds
    }),
  );
}
