import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { api } from "../api.ts";
import type { Operation } from "../operations/operation.ts";
import { Credential, holdsCredential } from "./credentials.ts";

const operations = Object.entries(api).flatMap(([resource, contract]) =>
  Object.entries(contract as Record<string, Operation>).map(([name, operation]) => [`${resource}.${name}`, operation]),
) as [string, Operation][];

test("a credential is found at any depth", () => {
  for (const schema of [
    Credential,
    Credential.meta({ description: "a link" }),
    z.object({ token: Credential.optional().meta({ description: "shown once" }) }),
    z.array(z.object({ a: z.union([z.null(), z.record(z.string(), Credential.nullable())]) })),
  ])
    assert.ok(holdsCredential(schema));
  assert.ok(!holdsCredential(z.object({ id: z.string(), list: z.array(z.record(z.string(), z.string())) })));
});

/** Such fields are recognized by their names, so that the test finds one that a developer forgot to mark. */
const called =
  /"(link|foxe|token|secret|url|userCode|\w+(Token|Secret|Link))":\{"type":"string"(?![^}]*"x-credential":true)/;
/** These are the addresses of the caller's own sites and receivers. */
const plainUrls = ["sites", "webhooks"].flatMap((resource) =>
  ["list", "get", "create", "update", "rotateSecret"].map((name) => `${resource}.${name}`),
);

test("every link and secret of an answer is marked as a credential", () => {
  const unmarked = operations.filter(([, { response }]) => {
    const schema = response && JSON.stringify(z.toJSONSchema(response, { io: "input" }));
    return schema !== undefined && called.test(schema);
  });
  assert.deepEqual(
    unmarked.map(([name]) => name).filter((name) => !plainUrls.includes(name)),
    [],
  );
  const holding = operations.filter(([, { response }]) => response && holdsCredential(response));
  assert.ok(holding.length >= 10, `${holding.length}`);
});
