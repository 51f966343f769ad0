import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";

const INLINE_SCRIPT = /<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g;

/**
 * Names the inline scripts of all pages by their SHA-256 in `inline-scripts.json`, for the policy with which the pages are served, and stores each
 * file in the codings that browsers take as well, so that the service spends no time on it.
 * That file is the last one: where it is, the site is whole.
 */
export function finishSite(folder: string): void {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const pages = names.filter((name) => name.endsWith(".html"));
  const hashes = new Set(pages.flatMap((name) => hashScripts(readFileSync(join(folder, name), "utf8"))));
  for (const name of names.filter((one) => /\.(css|html|js|svg)$/.test(one))) {
    const bytes = readFileSync(join(folder, name));
    writeFileSync(join(folder, `${name}.gz`), gzipSync(bytes, { level: 9 }));
    writeFileSync(join(folder, `${name}.br`), brotliCompressSync(bytes));
  }
  writeFileSync(join(folder, "inline-scripts.json"), JSON.stringify([...hashes].sort()));
}

function hashScripts(page: string): string[] {
  return Array.from(page.matchAll(INLINE_SCRIPT), ([, script]) => {
    return `sha256-${createHash("sha256").update(script!).digest("base64")}`;
  });
}
