import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { brotliCompressSync, brotliDecompressSync } from "node:zlib";
import { Hono } from "hono";
import { ApiError } from "../../core/errors.ts";
import type { Env } from "../connections/env.ts";
import { guideRoutes } from "./guide-route.ts";

const folder = mkdtempSync(join(tmpdir(), "downlink-guide-"));
after(() => rmSync(folder, { recursive: true }));

function serveFrom(from: string | undefined) {
  const app = new Hono<Env>();
  guideRoutes(app, from);
  app.onError((error, c) =>
    error instanceof ApiError ? c.json({ error: error.message }, 404) : c.text("broken", 500),
  );
  app.notFound((c) => c.json({ error: "nothing here" }, 404));
  return (path: string, headers: Record<string, string> = {}) => app.request(path, { headers });
}
const get = serveFrom(folder);

test("a guide that is not built says how to build it, and is served once it is, without a restart", async () => {
  const unbuilt = await get("/guide/start/try-it");
  assert.equal(unbuilt.status, 404);
  assert.match(await unbuilt.text(), /npm run guide/);
  build();
  assert.equal((await get("/guide/start/try-it")).status, 200);
  assert.equal((await serveFrom(undefined)("/guide/")).status, 404, "an operator may turn the pages off");
});

test("an address leads to its page, under a policy that lets in the scripts that the build named and no other", async () => {
  for (const [path, text] of [
    ["/guide/", "start page"],
    ["/guide/start/try-it", "try it"],
    ["/guide/start/try-it.html", "try it"],
  ] as const) {
    const answer = await get(path);
    assert.deepEqual([answer.status, await answer.text()], [200, text], path);
    assert.equal(answer.headers.get("cache-control"), "no-cache");
    const policy = answer.headers.get("content-security-policy")!;
    assert.match(policy, /default-src 'none'; script-src 'self' 'sha256-one='; style-src 'self';/);
    assert.doesNotMatch(policy.replace("style-src-attr 'unsafe-inline'", ""), /unsafe|https?:|\*/);
  }
});

test("an address without the slash of the guide, or with one too many, leads to the right one", async () => {
  for (const [path, target] of [
    ["/guide", "/guide/"],
    ["/guide/start/try-it/", "/guide/start/try-it"],
  ] as const) {
    const answer = await get(path);
    assert.deepEqual([answer.status, answer.headers.get("location")], [308, target]);
  }
});

test("a part is kept for ever, and comes in the coding that is asked for", async () => {
  const answer = await get("/guide/assets/app.js", { "accept-encoding": "br" });
  assert.equal(brotliDecompressSync(Buffer.from(await answer.arrayBuffer())).toString(), "app");
  assert.match(answer.headers.get("cache-control")!, /immutable/);
});

test("an address of nothing is 404: as a page for a person, as a sentence for the part of a former build", async () => {
  const page = await get("/guide/nowhere", { accept: "text/html,*/*" });
  assert.deepEqual([page.status, await page.text()], [404, "no page"]);
  assert.match(page.headers.get("content-security-policy")!, /default-src 'none'/);
  for (const path of ["/guide/assets/old.js", "/guide/..%2Fsecret.html", "/guide/%ff", "/guide/nowhere/"]) {
    const answer = await get(path);
    assert.deepEqual([answer.status, await answer.json()], [404, { error: "this page of the guide not found" }], path);
  }
});

function build(): void {
  const files = {
    "index.html": "start page",
    "start/try-it.html": "try it",
    "404.html": "no page",
    "assets/app.js": "app",
  };
  for (const name of ["start", "assets"]) mkdirSync(join(folder, name));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  writeFileSync(join(folder, "assets/app.js.br"), brotliCompressSync("app"));
  writeFileSync(join(folder, "inline-scripts.json"), JSON.stringify(["sha256-one="]));
}
