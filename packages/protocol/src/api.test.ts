import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { api, documentedApi } from "./api.ts";
import * as door from "./index.ts";
import { plainRoutes } from "./openapi/plain-routes.ts";
import { capabilities, userCapabilities } from "./operations/capabilities.ts";
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

test("each resource's contract leaves by its name, so that a page bundles those that it uses", () => {
  for (const [name, contract] of Object.entries(documentedApi))
    assert.equal(new Map(Object.entries(door)).get(name === "exports" ? "exportLinks" : name), contract, name);
});

test("every capability is used, and is in order", () => {
  const used = new Set<string>(plainRouteCapabilities);
  for (const capability of operations.flatMap(([, { access }]) =>
    access.kind === "apiKey" ? [access.capability] : [],
  ))
    used.add(capability);
  assert.deepEqual([...used].sort(), [...capabilities]);
});

test("operations only read what the organization shares with its projects", () => {
  const shared = operations.filter(([, { access }]) => access.kind === "apiKey" && access.reach === "shared");
  assert.ok(shared.length > 5);
  for (const [name, { method }] of shared) assert.equal(method, "get", name);
});

/** Layouts belong to the organization, but are what its people work with; what is sent to a webhook once more, and a policy that is tried, change nothing. */

test("whatever a person or program changes is audited, or the contract says why not", () => {
  const changing = operations.filter(
    ([, { method, access }]) => method !== "get" && (access.kind === "apiKey" || access.kind === "person"),
  );
  assert.ok(changing.length > 60);
  const undecided = changing.filter(([, { audits, unaudited = "" }]) => (audits === undefined) === (unaudited === ""));
  assert.deepEqual(
    undecided.map(([name]) => name),
    [],
  );
  const needless = operations.filter(
    ([name, { unaudited }]) => unaudited !== undefined && !changing.some(([one]) => one === name),
  );
  assert.deepEqual(needless, []);
});

test("what is not for every member, or is the whole organization's, is audited", () => {
  const administrative = operations.filter(([, { method, access }]) => {
    if (method === "get" || access.kind !== "apiKey") return false;
    return !userCapabilities.includes(access.capability) || access.reach === "organization";
  });
  assert.ok(administrative.length > 20);
  const unwritten = administrative.filter(([, { audits }]) => audits === undefined).map(([name]) => name);
  assert.deepEqual(unwritten.sort(), ["ingestPathPolicies.tryOut", "layouts.create", "layouts.update"]);
});

for (const [name, operation] of operations) {
  test(`${name} declares just the parameters of its path`, () => {
    assert.deepEqual(Object.keys(operation.params?.shape ?? {}).sort(), pathParameters(operation.path).sort());
  });

  test(`${name} uses no name for both a query parameter and a body field, except for references`, () => {
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

  test(`${name} has a summary that is a sentence without a full stop`, () =>
    assert.match(operation.summary, /^[A-Z].{7,140}[^.]$/));
}
