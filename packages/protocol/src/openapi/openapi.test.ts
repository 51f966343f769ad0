import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { documentedApi } from "../api.ts";
import { LEASE_HEADER } from "../edge/edge-limits.ts";
import type { Contract, Operation } from "../operations/operation.ts";
import { aliasesOf } from "../shapes/query.ts";
import { toOpenApi } from "./openapi.ts";
import { wire } from "./wire-schema.ts";

type Schema = Readonly<Record<string, unknown>>;
type Content = Readonly<Record<string, { readonly schema: Schema }>>;

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly schema: Schema;
}

interface Answer {
  readonly $ref?: string;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly content?: Content;
}

interface Described {
  readonly operationId: string;
  readonly summary: string;
  readonly deprecated?: boolean;
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, Answer>>;
}

const service = { title: "", version: "", description: "", serverUrl: "" };
const { paths, components } = toOpenApi(documentedApi, service) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly components: { readonly responses: Readonly<Record<string, Answer>> };
};
const described = Object.values(paths).flatMap((methods) => Object.values(methods));
const operations: readonly Operation[] = Object.values<Contract>(documentedApi).flatMap((contract) =>
  Object.values(contract),
);
const describedOf = ({ path, method }: Operation) => paths[path]![method]!;
const headersOf = ({ $ref, headers = {} }: Answer) =>
  Object.keys($ref === undefined ? headers : (components.responses[$ref.split("/").at(-1)!]!.headers ?? {}));

test("no body has an empty schema, neither of a request nor of an answer", () => {
  const isEmpty = ({ content = {} }: { readonly content?: Content }) =>
    Object.values(content).some(({ schema }) => Object.keys(schema).length === 0);
  const requests = described.filter(({ requestBody = {} }) => isEmpty(requestBody));
  const answers = described.flatMap(({ operationId, responses }) =>
    Object.entries(responses).flatMap(([status, answer]) => (isEmpty(answer) ? [`${operationId} ${status}`] : [])),
  );
  assert.deepEqual([...requests.map(({ operationId }) => operationId), ...answers], []);
});

test("each call of an agent and of a site declares the header of the lease, but for the one that takes the lease", () => {
  const leased = operations.filter(({ access }) => access.kind === "agent" || access.kind === "site").map(describedOf);
  const without = leased.filter(({ parameters }) => !parameters.some(({ name }) => name === LEASE_HEADER));
  assert.deepEqual(
    without.map(({ operationId }) => operationId),
    ["edge.hello", "site.hello"],
  );
});

test("the parameters of routes that are no operations are declared", () => {
  const queryOf = (operationId: string) =>
    described
      .find((one) => one.operationId === operationId)!
      .parameters.filter((parameter) => parameter.in === "query")
      .map(({ name }) => name);
  assert.deepEqual(queryOf("session.lookUpDeviceCode"), ["userCode"]);
  assert.deepEqual(queryOf("session.beginAtProvider"), ["next", "organization"]);
  assert.deepEqual(queryOf("session.finishAtProvider"), ["code", "state", "iss", "error"]);
  assert.deepEqual(queryOf("bucketNotifications.receive"), ["token"]);
  for (const { operationId } of described.filter((one) => one.operationId.startsWith("dataPlane.")))
    assert.deepEqual(queryOf(operationId), ["v", "k", "e", "c", "s"], operationId);
});

test("just those operations are marked as deprecated that say so", () => {
  const marked = described.filter(({ deprecated }) => deprecated).map(({ operationId }) => operationId);
  const named = described.filter(({ summary }) => /deprecated/.test(summary)).map(({ operationId }) => operationId);
  assert.deepEqual(marked, named);
  assert.deepEqual(marked, ["imports.list", "imports.deleteMany", "imports.delete"]);
});

test("what calls may use that is deprecated has the day since when, and their answers declare the header", () => {
  for (const operation of operations) {
    const fields = [operation.query, operation.body].flatMap((schema) =>
      Object.entries<z.ZodType>(schema?.shape ?? {}),
    );
    const deprecated = fields.filter(([, field]) => wire(field, {}).deprecated === true);
    for (const [name, field] of deprecated)
      assert.match(String(field.meta()?.deprecatedSince), /^2\d{3}-\d\d-\d\d$/, `${operation.path} ${name}`);
    const hasAliases = fields.some(([, field]) => aliasesOf(field).length > 0);
    const expected = operation.deprecatedSince !== undefined || deprecated.length > 0 || hasAliases;
    const [answer] = Object.values(describedOf(operation).responses);
    assert.equal(headersOf(answer!).includes("deprecation"), expected, operation.path);
  }
  assert.doesNotMatch(JSON.stringify(paths), /deprecatedSince|"aliases"/);
});

test("each answer declares the headers that it may have", () => {
  for (const { operationId, responses } of described)
    for (const [status, answer] of Object.entries(responses)) {
      const headers = headersOf(answer);
      for (const name of ["X-Request-Id", "RateLimit", "RateLimit-Policy"])
        assert.ok(headers.includes(name), `${operationId} ${status}: ${name}`);
      const waits = ["409", "429", "503"].includes(status);
      assert.equal(headers.includes("Retry-After"), waits, `${operationId} ${status}`);
      assert.equal(headers.includes("Location"), status === "302", `${operationId} ${status}`);
    }
});

test("the answer to a success declares the headers that follow from the contract", () => {
  const has = (operation: Operation, name: string) => headersOf(describedOf(operation).responses[200]!).includes(name);
  const { devices, recordings, exports, edge, deviceTokens } = documentedApi;
  for (const name of ["Link", "x-pagination-total", "ETag", "x-downlink-ignored"])
    assert.ok(has(devices.list, name), name);
  assert.ok(!has(recordings.get, "Link"));
  assert.ok(has(devices.create, "idempotent-replayed"));
  assert.ok(!has(exports.create, "idempotent-replayed"));
  assert.ok(has(edge.hello, "downlink-incarnation"));
  const accepted = described.find((one) => one.operationId === "session.accept")!.responses[200]!;
  for (const name of ["Set-Cookie", "x-downlink-ignored"]) assert.ok(headersOf(accepted).includes(name), name);
  assert.ok(!("304" in describedOf(deviceTokens.create).responses));
});

test("each closed set of a request has its members", () => {
  const without = operations.flatMap((operation) => {
    const text = JSON.stringify([describedOf(operation).parameters, describedOf(operation).requestBody ?? {}]);
    const sets = [operation.query, operation.body].flatMap((schema) => (schema ? enumsIn(schema) : []));
    return sets.filter((set) => !text.includes(set) && !isComponent(set)).map((set) => `${operation.path} ${set}`);
  });
  assert.deepEqual(without, []);
  const { parameters } = describedOf(documentedApi.recordings.list);
  const { schema } = parameters.find(({ name }) => name === "importStatus")!;
  assert.match(JSON.stringify(schema), /"enum":\["none","pending","importing","failed","complete"\]/);
});

const schemasText = JSON.stringify(components);
const isComponent = (set: string) => schemasText.includes(set);

/** Returns the closed sets of the values that the code works with, each as its JSON. */
function enumsIn(schema: z.ZodType): string[] {
  const text = JSON.stringify(z.toJSONSchema(schema, { io: "output", unrepresentable: "any" }));
  return [...text.matchAll(/"enum":(\[[^\]]*\])/g)].map(([, set]) => set!);
}

test("each parameter with a default has it", () => {
  const without = operations.flatMap((operation) =>
    Object.entries(operation.query?.shape ?? {})
      .filter(([, field]) => field instanceof z.ZodDefault)
      .filter(([name]) => {
        const parameter = describedOf(operation).parameters.find((one) => one.name === name && one.in === "query")!;
        return parameter.schema.default === undefined;
      })
      .map(([name]) => `${operation.path} ${name}`),
  );
  assert.deepEqual(without, []);
  const { parameters } = describedOf(documentedApi.devices.list);
  assert.equal(parameters.find(({ name }) => name === "limit")!.schema.default, 2000);
});

test("an answer of another media type than JSON is declared with it", () => {
  const typesOf = (path: string) => Object.keys(paths[path]!.get!.responses[200]!.content!);
  assert.deepEqual(typesOf("/v1/changes"), ["application/json", "text/event-stream"]);
  assert.deepEqual(typesOf("/data-plane/attachments/{id}"), ["*/*"]);
});

test("a body declares the former names of its fields, as deprecated", () => {
  const without = operations.flatMap((operation) => {
    const { schema } = describedOf(operation).requestBody?.content["application/json"] ?? {};
    const { properties = {} } = (schema ?? {}) as { readonly properties?: Readonly<Record<string, Schema>> };
    const names = Object.values(operation.body?.shape ?? {}).flatMap((field) => aliasesOf(field as z.ZodType));
    return names.filter((name) => properties[name]?.deprecated !== true).map((name) => `${operation.path} ${name}`);
  });
  assert.deepEqual(without, []);
});
