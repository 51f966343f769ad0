import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { documentedApi, toOpenApi } from "@downlink/protocol";
import type { Hono } from "hono";
import { throwNotFound } from "../../core/errors.ts";
import { PROGRAM_VERSION } from "../../core/program-version.ts";
import { type PreparedJson, prepareJson, sendPrepared } from "../answers/send-json.ts";
import type { Env } from "../connections/env.ts";
import type { Deps } from "../context/context.ts";

const ASSETS_DIR = dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"));
const ASSETS: Record<string, string> = {
  "swagger-ui.css": "text/css; charset=utf-8",
  "swagger-ui-bundle.js": "text/javascript; charset=utf-8",
};
const KEPT_AN_HOUR = "public, max-age=3600";
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
  const documentAt = keepDocuments();
  app.get("/v1/openapi.json", (c) => sendPrepared(c, documentAt(deps.publicUrl())));
  app.get("/docs", (c) =>
    c.html(PAGE, 200, { "Content-Security-Policy": POLICY, "X-Content-Type-Options": "nosniff" }),
  );
  app.get("/docs/start.js", (c) => c.body(START, 200, { "Content-Type": "text/javascript; charset=utf-8" }));
  app.get("/docs/:asset", async (c) => {
    const name = c.req.param("asset");
    const mediaType = Object.hasOwn(ASSETS, name) ? ASSETS[name]! : throwNotFound(`the page /docs/${name}`);
    return c.body(await readFile(join(ASSETS_DIR, name)), 200, {
      "Content-Type": mediaType,
      "Cache-Control": KEPT_AN_HOUR,
    });
  });
}

/** Callers choose the address of a server that was given none, so that only a few are kept. */
const MOST_KEPT = 4;

/** Anybody may ask for the document. It is made once, and encoded once for each address of the server, which is all that differs. */
function keepDocuments(): (serverUrl: string) => PreparedJson {
  const kept = new Map<string, PreparedJson>();
  let rest: Buffer | undefined;
  return (serverUrl) => {
    rest ??= makeRest();
    const start = `{"servers":${JSON.stringify([{ url: serverUrl }])},`;
    const document = kept.get(serverUrl) ?? prepareJson(Buffer.concat([Buffer.from(start), rest]), KEPT_AN_HOUR);
    kept.set(serverUrl, document);
    if (kept.size > MOST_KEPT) kept.delete(kept.keys().next().value!);
    return document;
  };
}

/** Returns the document without its first brace and without the servers. */
function makeRest(): Buffer {
  const description =
    "Recordings of robots: what exists and when, on request into the cloud, and out again in exact slices.";
  const { servers, ...document } = toOpenApi(documentedApi, {
    ...{ title: "Downlink", version: PROGRAM_VERSION },
    description,
    serverUrl: "",
  });
  return Buffer.from(JSON.stringify(document).slice(1));
}
