// Web pages are files that were built beforehand. All of them are held in memory, so that a build that runs meanwhile changes nothing.

import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, extname, join } from "node:path";
import type { Context } from "hono";
import { chooseCoding } from "../answers/content-coding.ts";
import type { Env } from "../connections/env.ts";

export interface BuiltFile {
  readonly mediaType: string;
  readonly etag: string;
  /** The bytes as they are, and in each coding in which they were stored as well. */
  readonly bodies: ReadonlyMap<string, Uint8Array<ArrayBuffer>>;
}

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".woff2": "font/woff2",
};
const CODINGS = { br: ".br", gzip: ".gz" } as const;

/** Returns where the built files of a package are: beside its description, which is found as a package and not by a path. */
export function findBuilt(name: "console" | "guide"): string {
  return join(dirname(createRequire(import.meta.url).resolve(`@downlink/${name}/package.json`)), "dist");
}

/** Returns the files of a folder by their paths in it; none if it is not there. */
export function readBuilt(folder: string): ReadonlyMap<string, BuiltFile> {
  if (!existsSync(folder)) return new Map();
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => name.replaceAll("\\", "/"));
  const known = names.filter((name) => MEDIA_TYPES[extname(name)] !== undefined);
  return new Map(known.map((name) => [name, readOne(folder, name, new Set(names))]));
}

function readOne(folder: string, name: string, names: ReadonlySet<string>): BuiltFile {
  const plain = readFileSync(join(folder, name));
  const coded = Object.entries(CODINGS).filter(([, ending]) => names.has(name + ending));
  const bodies = new Map([
    ["identity", plain],
    ...coded.map(([coding, ending]) => [coding, readFileSync(join(folder, name + ending))] as const),
  ]);
  const etag = `W/"${createHash("sha256").update(plain).digest("base64url").slice(0, 22)}"`;
  return { mediaType: MEDIA_TYPES[extname(name)]!, etag, bodies };
}

interface Answer {
  readonly headers: Readonly<Record<string, string>>;
  readonly status?: 200 | 404;
}

/** Sends a file in the coding that the browser takes, or says that it has it already. */
export function sendBuilt(c: Context<Env>, file: BuiltFile, { headers, status = 200 }: Answer): Response {
  const { mediaType, etag, bodies } = file;
  const accepted = chooseCoding(c.req.header("accept-encoding"));
  const coding = accepted !== undefined && bodies.has(accepted) ? accepted : "identity";
  const all = { ...headers, ETag: etag, Vary: "Accept-Encoding", "X-Content-Type-Options": "nosniff" };
  if (status === 200 && c.req.header("if-none-match") === etag) return c.body(null, 304, all);
  const coded: Record<string, string> = coding === "identity" ? {} : { "Content-Encoding": coding };
  return c.body(bodies.get(coding)!, status, { ...all, ...coded, "Content-Type": mediaType });
}
