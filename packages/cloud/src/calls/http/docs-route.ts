import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { documentedApi, toOpenApi } from "@downlink/protocol";
import type { Hono } from "hono";
import { throwNotFound } from "../../core/errors.ts";
import type { Deps } from "../context/context.ts";
import type { Env } from "./env.ts";

const ASSETS_DIR = dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"));
const ASSETS: Record<string, string> = {
  "swagger-ui.css": "text/css; charset=utf-8",
  "swagger-ui-bundle.js": "text/javascript; charset=utf-8",
};
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'";

const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Downlink API</title>
<link rel="stylesheet" href="/docs/swagger-ui.css">
<div id="api"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</html>
`;
const START = `SwaggerUIBundle({ url: "/v1/openapi.json", dom_id: "#api", deepLinking: true, docExpansion: "list", validatorUrl: null });\n`;

/** Serves `/v1/openapi.json`, made from the contract, and `/docs`, which shows it with assets from this server. */
export function docsRoutes(app: Hono<Env>, deps: Pick<Deps, "publicUrl">): void {
  const description =
    "Recordings of robots: what exists and when, on request into the cloud, and out again in exact slices.";
  const service = { title: "Downlink", version: "0.1.0", description };
  let document: ReturnType<typeof toOpenApi> | undefined;
  app.get("/v1/openapi.json", (c) => {
    const serverUrl = deps.publicUrl();
    // Anybody may ask, and making it takes as long as ten answers of it. Only the address differs between calls.
    document ??= toOpenApi(documentedApi, { ...service, serverUrl });
    return c.json({ ...document, servers: [{ url: serverUrl }] });
  });
  app.get("/docs", (c) =>
    c.html(PAGE, 200, { "Content-Security-Policy": POLICY, "X-Content-Type-Options": "nosniff" }),
  );
  app.get("/docs/start.js", (c) => c.body(START, 200, { "Content-Type": "text/javascript; charset=utf-8" }));
  app.get("/docs/:asset", async (c) => {
    const name = c.req.param("asset");
    const mediaType = Object.hasOwn(ASSETS, name) ? ASSETS[name]! : throwNotFound(`the page /docs/${name}`);
    return c.body(await readFile(join(ASSETS_DIR, name)), 200, {
      "Content-Type": mediaType,
      "Cache-Control": "public, max-age=3600",
    });
  });
}
