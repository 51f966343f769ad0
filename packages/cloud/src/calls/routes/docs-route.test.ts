import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, type Contract, documentedApi, siteUploads, toOpenApi, webhookEvents } from "@downlink/protocol";
import { createApp } from "../../app.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { consolePaths } from "./console-route.ts";
import { guidePaths } from "./guide-route.ts";
import { installPaths } from "./install-route.ts";

interface Described {
  readonly operationId: string;
  readonly description: string;
  readonly security: readonly Record<string, readonly string[]>[];
}

interface Document {
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly paths: Record<string, Record<string, Described>>;
  readonly webhooks: Record<string, object>;
  readonly tags: readonly { name: string }[];
}

const cloud = await startCloud({ after }, { works: false, environment: { DOWNLINK_CONSOLE: "on" } });
const document = (await (await fetch(`${cloud.url}/v1/openapi.json`)).json()) as Document;
const described = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ route: `${method.toUpperCase()} ${path}`, ...operation })),
);

/** An operation may be called by other methods too, of which only the first is documented. */
const alsoMethods = Object.values<Contract>(api)
  .flatMap((contract) => Object.values(contract))
  .flatMap(({ alsoMethods = [], path }) => alsoMethods.map((method) => `${method.toUpperCase()} ${path}`));

/** The routes as they are documented; a wildcard stands for one parameter. Pages for people are none of them. */
const routes = createApp(cloud.deps)
  .routes.filter(({ method, path }) => method !== "ALL" && method !== "OPTIONS" && !path.startsWith("/docs/"))
  .filter(({ path }) => ![...consolePaths, ...guidePaths, ...installPaths].includes(path))
  .map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, "{$1}").replace(/\*$/, "{key}")}`)
  .filter((route) => !alsoMethods.includes(route));

/** The routes that only the processes of self-hosted sites serve. */
const atSites = Object.values<Contract[string]>(siteUploads).map(
  ({ method, path }) => `${method.toUpperCase()} ${path}`,
);

test("the documentation has every route, also those of self-hosted sites, and no other one", () => {
  assert.deepEqual(described.map(({ route }) => route).sort(), [...new Set([...routes, ...atSites])].sort());
});

test("every route that needs an API key names its capability, and no two have one name", () => {
  const names = described.map(({ operationId }) => operationId);
  assert.deepEqual(names, [...new Set(names)]);
  for (const { route, description, security } of described) {
    const [capability] = security.flatMap(({ apiKey = [] }) => apiKey);
    const takesKey = security.some((one) => "apiKey" in one);
    assert.equal(takesKey, capability !== undefined, route);
    if (takesKey) assert.ok(description.includes(`\`${capability}\``), route);
  }
});

test("the documentation has each event that a webhook receives", () =>
  assert.deepEqual(Object.keys(document.webhooks), Object.keys(webhookEvents)));

test("the documentation gives the limits of texts and queries", () => {
  const text = JSON.stringify(document);
  for (const limit of [
    '"maxLength":100',
    '"maximum":2000',
    '"maxItems":2000',
    "at most 1000 parameters",
    "At most 1 MiB",
    '"maxLength":4096',
    "At most 64 terms, each with at most 64 values",
  ])
    assert.ok(text.includes(limit), limit);
});

test("the document names the address at which it was called", async () => {
  const { port } = new URL(cloud.url);
  for (const origin of [`http://localhost:${port}`, `http://127.0.0.1:${port}`]) {
    const { servers } = (await (await fetch(`${origin}/v1/openapi.json`)).json()) as { servers: { url: string }[] };
    assert.deepEqual(servers, [{ url: origin }]);
  }
});

test("the document is compressed, and a client that has it is answered 304", async () => {
  const first = await fetch(`${cloud.url}/v1/openapi.json`);
  const etag = first.headers.get("etag")!;
  assert.deepEqual(
    [first.headers.get("content-encoding"), first.headers.get("cache-control")],
    ["gzip", "public, max-age=3600"],
  );
  const again = await fetch(`${cloud.url}/v1/openapi.json`, { headers: { "if-none-match": etag } });
  assert.deepEqual([again.status, await again.text()], [304, ""]);
});

test("the document is made once, so that a client that asks over and over takes little from others", async () => {
  const made = await leastMsOf(async () => void toOpenApi(documentedApi, { ...document.info, serverUrl: cloud.url }));
  const answered = await leastMsOf(async () => void (await (await fetch(`${cloud.url}/v1/openapi.json`)).bytes()));
  assert.ok(answered < made / 2, `an answer took ${answered} ms of the processors, and a document ${made} ms`);
});

/** Returns the milliseconds of the processors that it takes at least: other tests of this process compute meanwhile. */
async function leastMsOf(act: () => Promise<void>): Promise<number> {
  const spent: number[] = [];
  for (let time = 0; time < 7; time++) {
    const before = process.cpuUsage();
    await act();
    const { user, system } = process.cpuUsage(before);
    spent.push((user + system) / 1000);
  }
  return Math.min(...spent);
}
