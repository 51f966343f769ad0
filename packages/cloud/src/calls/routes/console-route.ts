// A part of the pages that is not there is 404, never the page itself: a tab that was opened on a former version would take that for its
// part, and break without a word.

import type { Hono } from "hono";
import { throwNotFound } from "../../core/errors.ts";
import type { Env } from "../connections/env.ts";
import { findBuilt, readBuilt, sendBuilt } from "./built-files.ts";

/** At these addresses is the page, which decides itself what it shows there. */
const PAGES = ["/", "/p/*", "/sites", "/sites/*", "/settings", "/settings/*", "/sign-in", "/sign-in/*"];
/** None of these is a part of the interface for programs. */
export const consolePaths: readonly string[] = [...PAGES, "/icon.svg", "/assets/:name"];
const POLICY = [
  "default-src 'none'",
  ...["script-src", "style-src", "font-src", "connect-src", "worker-src", "manifest-src"].map((of) => `${of} 'self'`),
  "img-src 'self' data: blob:",
  ...["base-uri", "form-action", "frame-ancestors"].map((of) => `${of} 'none'`),
  "require-trusted-types-for 'script'",
  "trusted-types downlink-worker",
].join("; ");
const PAGE_HEADERS = {
  "Content-Security-Policy": POLICY,
  "Cross-Origin-Opener-Policy": "same-origin",
  "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
  "Referrer-Policy": "same-origin",
  "Cache-Control": "no-cache",
};

/** Where the built pages are. */
export function consoleFolder(): string {
  return findBuilt("console");
}

/** Serves the web pages of `folder`; undefined serves none. */
export function consoleRoutes(app: Hono<Env>, folder: string | undefined): void {
  if (folder === undefined) return;
  const files = readBuilt(folder);
  const page = files.get("index.html");
  for (const path of PAGES)
    app.get(path, (c) =>
      sendBuilt(c, page ?? throwNotFound("the console, which is not built: run npm run build"), {
        headers: PAGE_HEADERS,
      }),
    );
  app.get("/icon.svg", (c) =>
    sendBuilt(c, files.get("icon.svg") ?? throwNotFound("the icon"), { headers: { "Cache-Control": "no-cache" } }),
  );
  app.get("/assets/:name", (c) => {
    const name = c.req.param("name");
    const file = files.get(`assets/${name}`) ?? throwNotFound(`the part ${name} of the console`);
    // A worker has the policy of its own script, and not that of the page that starts it.
    const headers = { "Content-Security-Policy": POLICY, "Cache-Control": "public, max-age=31536000, immutable" };
    return sendBuilt(c, file, { headers });
  });
}
