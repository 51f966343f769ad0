import type { Context, Hono } from "hono";
import { refuse, throwNotFound } from "../../core/errors.ts";
import type { Env } from "../connections/env.ts";
import { type BuiltFile, findBuilt, readBuilt, sendBuilt } from "./built-files.ts";

/** None of these is a part of the interface for programs. */
export const guidePaths: readonly string[] = ["/guide", "/guide/*"];
const NOT_BUILT =
  "The guide is not built. Run npm run guide in the checkout, which takes half a minute, and load this page again.";

/** Where the built guide is. */
export function guideFolder(): string {
  return findBuilt("guide");
}

interface Site {
  readonly files: ReadonlyMap<string, BuiltFile>;
  readonly policy: string;
}

/**
 * Serves the documentation, which is a site of pages, from `folder`; undefined serves none. It is read at the first request after it was built,
 * because a checkout builds it later than the console, or never.
 */
export function guideRoutes(app: Hono<Env>, folder: string | undefined): void {
  if (folder === undefined) return;
  const site = keepSite(folder);
  app.get("/guide", (c) => c.redirect("/guide/", 308));
  app.get("/guide/*", (c) => {
    const { files, policy } = site();
    const path = decodePath(c.req.path.slice("/guide/".length));
    const page = pageOf(path);
    if (files.has(path) && path.startsWith("assets/"))
      return sendBuilt(c, files.get(path)!, { headers: { "Cache-Control": "public, max-age=31536000, immutable" } });
    if (!files.has(page) && path.endsWith("/") && files.has(pageOf(path.slice(0, -1))))
      return c.redirect(c.req.path.slice(0, -1), 308);
    const file = files.get(path) ?? files.get(page);
    const headers = pageHeaders(policy);
    return file ? sendBuilt(c, file, { headers }) : sendMissing(c, files, headers);
  });
}

function keepSite(folder: string): () => Site {
  let kept: Site | undefined;
  return () => {
    if (kept) return kept;
    const files = readBuilt(folder);
    const scripts = files.get("inline-scripts.json") ?? refuse("NotFound", NOT_BUILT);
    const hashes = JSON.parse(Buffer.from(scripts.bodies.get("identity")!).toString()) as string[];
    kept = { files, policy: policyOf(hashes) };
    return kept;
  };
}

/** Scripts are files, or those that the build named. Colours of code are attributes of style, and small pictures are in the sheet itself. */
function policyOf(hashes: readonly string[]): string {
  const scripts = ["'self'", ...hashes.map((hash) => `'${hash}'`)];
  return [
    "default-src 'none'",
    `script-src ${scripts.join(" ")}`,
    "style-src 'self'",
    "style-src-attr 'unsafe-inline'",
    ...["font-src", "connect-src"].map((of) => `${of} 'self'`),
    "img-src 'self' data:",
    ...["base-uri", "form-action", "frame-ancestors"].map((of) => `${of} 'none'`),
  ].join("; ");
}

function pageHeaders(policy: string): Record<string, string> {
  return {
    "Content-Security-Policy": policy,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-cache",
  };
}

/** An address has no `.html` at its end, and that of a folder has its slash. */
function pageOf(path: string): string {
  return path === "" || path.endsWith("/") ? `${path}index.html` : `${path}.html`;
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path; // no such file
  }
}

/** A part of a former build is 404 in words: a page in its place would break the tab that asks for it. */
function sendMissing(c: Context<Env>, files: Site["files"], headers: Record<string, string>): Response {
  const page = files.get("404.html");
  const isPage = c.req.header("accept")?.includes("text/html") ?? false;
  return page && isPage ? sendBuilt(c, page, { headers, status: 404 }) : throwNotFound("this page of the guide");
}
