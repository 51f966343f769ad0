// The web pages are files that were built beforehand. All of them are held in memory, so that a build that runs meanwhile changes nothing.
//
// A part of the pages that is not there is 404, never the page itself: a tab that was opened on a former version would take that for its
// part, and break without a word.

import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, extname, join } from "node:path";
import type { Context, Hono } from "hono";
import { throwNotFound } from "../../core/errors.ts";
import { chooseCoding } from "./content-coding.ts";
import type { Env } from "./env.ts";

interface ConsoleFile {
  readonly mediaType: string;
  readonly etag: string;
  /** The bytes as they are, and in each coding in which they were stored as well. */
  readonly bodies: ReadonlyMap<string, Uint8Array<ArrayBuffer>>;
}

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".woff2": "font/woff2",
};
const CODINGS = { br: ".br", gzip: ".gz" } as const;
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

/** Where the built pages are: beside the package's description, which is found as a package and not by a path. */
export function consoleFolder(): string {
  return join(dirname(createRequire(import.meta.url).resolve("@downlink/console/package.json")), "dist");
}

/** Serves the web pages of `folder`; undefined serves none. */
export function consoleRoutes(app: Hono<Env>, folder: string | undefined): void {
  if (folder === undefined) return;
  const files = readFiles(folder);
  const page = files.get("index.html");
  for (const path of PAGES)
    app.get(path, (c) =>
      send(c, page ?? throwNotFound("the console, which is not built: run npm run build"), PAGE_HEADERS),
    );
  app.get("/icon.svg", (c) =>
    send(c, files.get("icon.svg") ?? throwNotFound("the icon"), { "Cache-Control": "no-cache" }),
  );
  app.get("/assets/:name", (c) => {
    const name = c.req.param("name");
    const file = files.get(`assets/${name}`) ?? throwNotFound(`the part ${name} of the console`);
    // A worker has the policy of its own script, and not that of the page that starts it.
    const headers = { "Content-Security-Policy": POLICY, "Cache-Control": "public, max-age=31536000, immutable" };
    return send(c, file, headers);
  });
}

function send(c: Context<Env>, { mediaType, etag, bodies }: ConsoleFile, headers: Record<string, string>): Response {
  const accepted = chooseCoding(c.req.header("accept-encoding"));
  const coding = accepted !== undefined && bodies.has(accepted) ? accepted : "identity";
  const all = { ...headers, ETag: etag, Vary: "Accept-Encoding", "X-Content-Type-Options": "nosniff" };
  if (c.req.header("if-none-match") === etag) return c.body(null, 304, all);
  const coded: Record<string, string> = coding === "identity" ? {} : { "Content-Encoding": coding };
  return c.body(bodies.get(coding)!, 200, { ...all, ...coded, "Content-Type": mediaType });
}

function readFiles(folder: string): ReadonlyMap<string, ConsoleFile> {
  if (!existsSync(folder)) return new Map();
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => name.replaceAll("\\", "/"));
  const known = names.filter((name) => MEDIA_TYPES[extname(name)] !== undefined);
  return new Map(known.map((name) => [name, readOne(folder, name, new Set(names))]));
}

function readOne(folder: string, name: string, names: ReadonlySet<string>): ConsoleFile {
  const plain = readFileSync(join(folder, name));
  const coded = Object.entries(CODINGS).filter(([, ending]) => names.has(name + ending));
  const bodies = new Map([
    ["identity", plain],
    ...coded.map(([coding, ending]) => [coding, readFileSync(join(folder, name + ending))] as const),
  ]);
  const etag = `W/"${createHash("sha256").update(plain).digest("base64url").slice(0, 22)}"`;
  return { mediaType: MEDIA_TYPES[extname(name)]!, etag, bodies };
}
