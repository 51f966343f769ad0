import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, ErrorBody, type Operation } from "@downlink/protocol";
import { operations } from "./testing/races/run-operation.ts";
import { sendRequest } from "./testing/send-request.ts";
import { startCloud } from "./testing/start-cloud.ts";

const cloud = await startCloud({ after }, { works: false });
/** No field accepts these, whatever its type. */
const unstorable = ["a\0", "\ud800", ["\udc00"]];

interface Sent {
  readonly path?: string;
  readonly query?: string;
  readonly body?: string | Uint8Array;
}

async function send({ method, path }: Operation, sent: Sent) {
  const url = `${cloud.url}${sent.path ?? path.replaceAll(/\{\w+\}/g, "1")}${sent.query ?? ""}`;
  const headers = { authorization: `Bearer ${cloud.adminKey}`, "content-type": "application/json" };
  const { status, text } = await sendRequest(url, { method: method.toUpperCase(), headers, ...sent });
  return { status, ...ErrorBody.parse(JSON.parse(text)) };
}

/** Requires that each of the fields, which are sent together, is named. */
async function requireRefused(operation: Operation, fields: readonly string[], sent: Sent): Promise<void> {
  const { status, code, details = [] } = await send(operation, sent);
  assert.deepEqual([status, code], [400, "InvalidRequest"], fields.join());
  const named = new Set(details.map(({ path }) => path.split(".")[0]));
  const missing = fields.filter((field) => !named.has(field));
  assert.deepEqual(missing, [], `they are not among ${JSON.stringify(details)}`);
}

for (const { called, operation } of operations.filter(({ operation: { access } }) => access.kind === "apiKey"))
  test(`${called}: a text that cannot be stored is 400 in every field, and the error says where`, async () => {
    const { path, query, body } = operation;
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
    const inQuery = Object.keys(query?.shape ?? {});
    const inBody = Object.keys(body?.shape ?? {});
    if (inPath.length > 0) await requireRefused(operation, inPath, { path: path.replaceAll(/\{\w+\}/g, "a%00") });
    if (inQuery.length > 0)
      await requireRefused(operation, inQuery, { query: `?${inQuery.map((name) => `${name}=a%00`).join("&")}` });
    for (const value of inBody.length > 0 ? unstorable : []) {
      const sent = Object.fromEntries(inBody.map((name) => [name, value]));
      await requireRefused(operation, inBody, { body: JSON.stringify(sent) });
    }
  });

test("bytes that are not UTF-8 are 400, and are not replaced", async () => {
  const body = new Uint8Array([...Buffer.from('{"name":"a'), 0xff, ...Buffer.from('"}')]);
  const { status, code, error } = await send(api.projects.create, { body });
  assert.deepEqual([status, code, error], [400, "MalformedJson", "the body is not UTF-8"]);
});

test("a key of metadata that JavaScript clients cannot read is refused, and not dropped", async () => {
  const of = { deviceId: "dev", start: "2026-01-01", end: "2026-01-01" };
  const body = JSON.stringify({ ...of, metadata: null }).replace("null", '{"__proto__":"a"}');
  await requireRefused(api.events.create, ["metadata"], { body });
});
