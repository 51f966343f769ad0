import assert from "node:assert/strict";
import { test } from "node:test";
import { Hono } from "hono";
import { ExactFirstRouter } from "./exact-first-router.ts";

/** The answer's header names the handlers in the order in which they were called. */
function appOf(): Hono {
  const app = new Hono({ router: new ExactFirstRouter() });
  app.use(async (c, next) => {
    c.header("called", "all");
    await next();
  });
  app.use("/v1/*", async (c, next) => {
    c.header("called", "v1", { append: true });
    await next();
  });
  app.get("/v1/things/:id", (c) => c.text(`thing ${c.req.param("id")}`));
  app.get("/v1/things/summary", (c) => c.text("summary"));
  app.delete("/v1/things/:id", (c) => c.text(`deleted ${c.req.param("id")}`));
  app.get("/v1/things/:id/parts/:part", (c) => c.text(`${c.req.param("id")} ${c.req.param("part")}`));
  app.put("/files/*", (c) => c.text(`file ${c.req.path}`));
  app.get("/files/list", (c) => c.text("list"));
  return app;
}

for (const [method, path, body, called] of [
  ["GET", "/v1/things/summary", "summary", "all, v1"],
  ["GET", "/v1/things/other", "thing other", "all, v1"],
  ["GET", "/v1/things/sum", "thing sum", "all, v1"],
  ["DELETE", "/v1/things/summary", "deleted summary", "all, v1"],
  ["GET", "/v1/things/a%2Fb/parts/summary", "a/b summary", "all, v1"],
  ["PUT", "/files/list", "file /files/list", "all"],
  ["GET", "/files/list", "list", "all"],
  ["GET", "/v1/nothing", "404 Not Found", "all, v1"],
  ["POST", "/v1/things/summary", "404 Not Found", "all, v1"],
] as const)
  test(`${method} ${path} is answered by the route with exactly this path, or else by the one with parameters`, async () => {
    const response = await appOf().request(path, { method });
    assert.deepEqual([await response.text(), response.headers.get("called")], [body, called]);
  });

test("a router says by which methods a path may be called", () => {
  const router = new ExactFirstRouter<string>();
  router.add("ALL", "/*", "middleware");
  router.add("GET", "/v1/devices", "list");
  router.add("POST", "/v1/devices", "create");
  router.add("PATCH", "/v1/devices/:id", "update");
  assert.deepEqual(router.methodsOf("/v1/devices"), ["GET", "HEAD", "POST"]);
  assert.deepEqual(router.methodsOf("/v1/devices/robot"), ["PATCH"]);
  assert.deepEqual(router.methodsOf("/v1/robots"), []);
});
