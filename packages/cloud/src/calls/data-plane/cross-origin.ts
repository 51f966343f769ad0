// Pages of other origins may use links in browsers if `DOWNLINK_LINK_ORIGINS` names these origins, without cookies. Export links are open
// to every page, because their holder may have the exported data and the links end after 15 seconds; view links, which last, are not.

import { DAMAGE_HEADER, MISSING_HEADER } from "@downlink/protocol";
import type { Hono } from "hono";
import type { Env } from "../http/env.ts";

/** The headers of an answer that a page may read, and those that it may send. */
const EXPOSED = `accept-ranges, content-disposition, content-range, etag, ${DAMAGE_HEADER}, ${MISSING_HEADER}`;
const ASKED = "content-type, if-none-match, if-range, range";
const PREFLIGHT_SECONDS = "3600";

/**
 * Lets pages of other origins use links if the operator names these origins. The holder of a link may have the data, but whether a browser
 * may send its user's links to other sites is the operator's decision. Cookies are not sent. spec: Fetch, CORS protocol
 */
export function crossOrigin(app: Hono<Env>, { linkOrigins }: { readonly linkOrigins: readonly string[] }): void {
  app.use("/data-plane/*", async (c, next) => {
    const origin = c.req.header("origin");
    if (origin === undefined || !(linkOrigins.includes(origin) || linkOrigins.includes("*"))) return next();
    c.header("Access-Control-Allow-Origin", origin);
    c.header("Access-Control-Expose-Headers", EXPOSED);
    c.header("Vary", "Origin");
    if (c.req.method !== "OPTIONS") return next();
    c.header("Access-Control-Allow-Methods", "GET, HEAD, PUT");
    c.header("Access-Control-Allow-Headers", ASKED);
    c.header("Access-Control-Max-Age", PREFLIGHT_SECONDS);
    return c.body(null, 204);
  });
}
