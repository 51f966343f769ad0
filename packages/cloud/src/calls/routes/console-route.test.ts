import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from "node:zlib";
import { Hono } from "hono";
import { ApiError } from "../../core/errors.ts";
import type { Env } from "../connections/env.ts";
import { consoleRoutes } from "./console-route.ts";

const folder = mkdtempSync(join(tmpdir(), "downlink-console-"));
after(() => rmSync(folder, { recursive: true }));
const SCRIPT = "console.log('pages');\n".repeat(100);
mkdirSync(join(folder, "assets"));
writeFileSync(join(folder, "index.html"), "<!doctype html><title>Downlink</title>");
writeFileSync(join(folder, "assets", "index-abc.js"), SCRIPT);
writeFileSync(join(folder, "assets", "index-abc.js.gz"), gzipSync(SCRIPT));
writeFileSync(join(folder, "assets", "index-abc.js.br"), brotliCompressSync(SCRIPT));
writeFileSync(join(folder, "secret.txt"), "no page");

function serveFrom(from: string | undefined) {
  const app = new Hono<Env>();
  consoleRoutes(app, from);
  app.onError((error, c) =>
    error instanceof ApiError ? c.json({ error: error.message }, 404) : c.text("broken", 500),
  );
  app.notFound((c) => c.json({ error: "nothing here" }, 404));
  return (path: string, headers: Record<string, string> = {}) => app.request(path, { headers });
}
const get = serveFrom(folder);

test("every address of a page is answered by the page, under a policy that lets in no other script", async () => {
  for (const path of ["/", "/p/prj_1/recordings/a%2Fb", "/settings/keys", "/sign-in?next=/", "/sites/site_1"]) {
    const answer = await get(path);
    assert.equal(answer.status, 200, path);
    assert.match(await answer.text(), /<title>Downlink/);
    const policy = answer.headers.get("content-security-policy")!;
    assert.match(policy, /default-src 'none'.*require-trusted-types-for 'script'/);
    assert.doesNotMatch(policy, /unsafe|https?:|\*/);
    assert.equal(answer.headers.get("x-content-type-options"), "nosniff");
  }
});

test("every page in the list of the console is served at its address", async () => {
  const routes = readFileSync(join(import.meta.dirname, "../../../../console/src/routes.ts"), "utf8");
  const paths = Array.from(routes.matchAll(/page\(\s*"([^"]+)"/g), ([, path]) => path!);
  assert.ok(paths.includes("/sites/:id"));
  for (const path of paths) assert.equal((await get(path)).status, 200, path);
});

test("a part is kept for ever, comes in the coding that is asked for, and is 404 where it is not there", async () => {
  for (const [accepted, decode] of [
    ["gzip, br", brotliDecompressSync],
    ["gzip", gunzipSync],
    ["", (bytes: Buffer) => bytes],
  ] as const) {
    const answer = await get("/assets/index-abc.js", accepted ? { "accept-encoding": accepted } : {});
    assert.equal(decode(Buffer.from(await answer.arrayBuffer())).toString(), SCRIPT);
    assert.match(answer.headers.get("cache-control")!, /immutable/);
    assert.match(
      answer.headers.get("content-security-policy")!,
      /default-src 'none'/,
      "a worker takes its policy from here",
    );
    assert.equal(answer.headers.get("content-type"), "text/javascript; charset=utf-8");
  }
  for (const path of ["/assets/index-old.js", "/assets/..%2Findex.html", "/assets/index-abc.js.gz", "/secret.txt"])
    assert.equal((await get(path)).status, 404, path);
});

test("a page that has not changed is not sent again", async () => {
  const etag = (await get("/")).headers.get("etag")!;
  const again = await get("/p/prj_2/coverage", { "if-none-match": etag });
  assert.deepEqual([again.status, await again.text()], [304, ""]);
});

test("without built pages the answer says how to build them, and an operator may turn the pages off", async () => {
  const unbuilt = await serveFrom(join(folder, "not-there"))("/");
  assert.equal(unbuilt.status, 404);
  assert.match(await unbuilt.text(), /npm run build/);
  const off = await serveFrom(undefined)("/");
  assert.deepEqual(await off.json(), { error: "nothing here" });
});
