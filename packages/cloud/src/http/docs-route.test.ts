import assert from "node:assert/strict";
import { after, test } from "node:test";
import { createApp } from "../app.ts";
import { startCloud } from "../testing/start-cloud.ts";

interface Described {
  readonly operationId: string;
  readonly description: string;
  readonly security: readonly Record<string, readonly string[]>[];
}

interface Document {
  readonly paths: Record<string, Record<string, Described>>;
  readonly tags: readonly { name: string }[];
}

const cloud = await startCloud({ after }, { works: false });
const document = (await (await fetch(`${cloud.url}/v1/openapi.json`)).json()) as Document;
const described = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ route: `${method.toUpperCase()} ${path}`, ...operation })),
);

/** As documented; what stands for any path is one parameter. */
const routes = createApp(cloud.deps)
  .routes.filter(({ method, path }) => method !== "ALL" && !path.startsWith("/docs/"))
  .map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, "{$1}").replace(/\*$/, "{key}")}`);

test("the documentation has every route, and no other", () => {
  assert.deepEqual(described.map(({ route }) => route).sort(), [...new Set(routes)].sort());
});

test("every route that takes an API key names its capability, and no two have one name", () => {
  const names = described.map(({ operationId }) => operationId);
  assert.deepEqual(names, [...new Set(names)]);
  for (const { route, description, security } of described) {
    const [capability] = security.flatMap(({ apiKey = [] }) => apiKey);
    const takesKey = security.some((one) => "apiKey" in one);
    assert.equal(takesKey, capability !== undefined, route);
    if (takesKey) assert.ok(description.includes(`\`${capability}\``), route);
  }
});

test("texts and queries tell their limits", () => {
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
