import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { api } from "./api.ts";
import { plainRoutes } from "./openapi/plain-routes.ts";
import { capabilities } from "./operations/capabilities.ts";
import { type Operation, pathParameters } from "./operations/operation.ts";

/** These are harmless, because neither has a default that could override the other. spec: wire contract, Datasets and Imports */
const inQueryAndBody = ["force", "id"];

const operations = Object.entries(api).flatMap(([resource, contract]) =>
  Object.entries(contract as Record<string, Operation>).map(
    ([name, operation]) => [`${resource}.${name}`, operation] as const,
  ),
);

test("no two operations share a method and path", () => {
  const routes = operations.map(([, { method, path }]) => `${method} ${path.replace(/\{\w+\}/g, "{}")}`);
  assert.deepEqual(routes, [...new Set(routes)]);
});

const plainRouteCapabilities = plainRoutes.flatMap(({ access }) =>
  typeof access === "object" ? [access.capability] : [],
);

test("every capability is used, and is in order", () => {
  const used = new Set<string>(plainRouteCapabilities);
  for (const capability of operations.flatMap(([, { access }]) =>
    access.kind === "apiKey" ? [access.capability] : [],
  ))
    used.add(capability);
  assert.deepEqual([...used].sort(), [...capabilities]);
});

test("what the organization shares with its projects is only read", () => {
  const shared = operations.filter(([, { access }]) => access.kind === "apiKey" && access.reach === "shared");
  assert.ok(shared.length > 5);
  for (const [name, { method }] of shared) assert.equal(method, "get", name);
});

for (const [name, operation] of operations) {
  test(`${name} declares just the parameters of its path`, () => {
    assert.deepEqual(Object.keys(operation.params?.shape ?? {}).sort(), pathParameters(operation.path).sort());
  });

  test(`${name} gives no name to a query parameter and a body field at once, but to its reference`, () => {
    const fields = Object.keys(operation.body?.shape ?? {});
    const clashes = [...Object.keys(operation.query?.shape ?? {}), ...pathParameters(operation.path)].filter(
      (key) => fields.includes(key) && !inQueryAndBody.includes(key),
    );
    assert.deepEqual(clashes, []);
  });

  test(`${name} can be written as a JSON schema, both ways`, () => {
    for (const schema of [operation.params, operation.query, operation.body, operation.response])
      if (schema) assert.equal(typeof z.toJSONSchema(schema, { io: "input" }), "object");
  });

  test(`${name} says what it does in a sentence without a full stop`, () =>
    assert.match(operation.summary, /^[A-Z].{7,140}[^.]$/));
}
