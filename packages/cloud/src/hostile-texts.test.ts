import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, ErrorBody, type Operation } from "@downlink/protocol";
import { operations } from "./testing/races/run-operation.ts";
import { startCloud } from "./testing/start-cloud.ts";

const cloud = await startCloud({ after }, { works: false });
/** No field accepts these, whatever its type. */
const unstorable = ["a\0", "\ud800", ["\udc00"]];

interface Sent {
  readonly path?: string;
  readonly query?: string;
  readonly body?: string | Uint8Array<ArrayBuffer>;
}

async function send({ method, path }: Operation, sent: Sent) {
  const url = `${cloud.url}${sent.path ?? path.replaceAll(/\{\w+\}/g, "1")}${sent.query ?? ""}`;
  const headers = { authorization: `Bearer ${cloud.adminKey}`, "content-type": "application/json" };
  const response = await fetch(url, { method: method.toUpperCase(), headers, body: sent.body ?? null });
  return { status: response.status, ...ErrorBody.parse(await response.json()) };
}

async function requireRefused(operation: Operation, field: string, sent: Sent): Promise<void> {
  const { status, code, details = [] } = await send(operation, sent);
  assert.deepEqual([status, code], [400, "InvalidRequest"], field);
  assert.ok(
    details.some(({ path }) => path.split(".")[0] === field),
    `${field} is not among ${JSON.stringify(details)}`,
  );
}

for (const { called, operation } of operations.filter(({ operation: { access } }) => access.kind === "apiKey"))
  test(`${called}: a text that cannot be stored is 400 in every field, and the error says where`, async () => {
    const { path, query, body } = operation;
    for (const [braced, name] of path.matchAll(/\{(\w+)\}/g))
      await requireRefused(operation, name!, { path: path.replace(braced, "a%00").replaceAll(/\{\w+\}/g, "1") });
    for (const name of Object.keys(query?.shape ?? {}))
      await requireRefused(operation, name, { query: `?${name}=a%00` });
    for (const name of Object.keys(body?.shape ?? {}))
      for (const value of unstorable)
        await requireRefused(operation, name, { body: JSON.stringify({ [name]: value }) });
  });

test("bytes that are not UTF-8 are 400, and are not replaced", async () => {
  const body = new Uint8Array([...Buffer.from('{"name":"a'), 0xff, ...Buffer.from('"}')]);
  const { status, code, error } = await send(api.projects.create, { body });
  assert.deepEqual([status, code, error], [400, "MalformedJson", "the body is not UTF-8"]);
});

test("a key of metadata that JavaScript clients cannot read is refused, and not dropped", async () => {
  const of = { deviceId: "dev", start: "2026-01-01", end: "2026-01-01" };
  const body = JSON.stringify({ ...of, metadata: null }).replace("null", '{"__proto__":"a"}');
  await requireRefused(api.events.create, "metadata", { body });
});
