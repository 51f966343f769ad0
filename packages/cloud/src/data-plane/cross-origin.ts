// Links in browsers: pages of other origins may use links where `DOWNLINK_LINK_ORIGINS` names them, with no cookie.
// Export links are open to every page, because who holds one may have what is behind it, and has it for 15 seconds;
// view links, which last, are not.

import { DAMAGE_HEADER } from "@downlink/protocol";
import type { Hono } from "hono";
import type { Env } from "../http/env.ts";

/** What a page may read of an answer beside its body, and what it may ask with. */
const EXPOSED = `accept-ranges, content-disposition, content-range, etag, ${DAMAGE_HEADER}`;
const ASKED = "content-type, if-none-match, if-range, range";
const PREFLIGHT_SECONDS = "3600";

/**
 * Lets pages of other origins use links, as far as the operator names these origins: who holds a link may have what is behind it, but
 * whether a browser may send its user's links anywhere is the operator's decision. No cookie goes along. spec: Fetch, CORS protocol
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
