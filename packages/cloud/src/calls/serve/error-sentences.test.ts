import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, ErrorBody, type Operation } from "@downlink/protocol";
import { slowTest } from "@downlink/recordings/testing";
import { readExamples } from "../../testing/example-bodies.ts";
import { makeOneOfEach } from "../../testing/one-of-each.ts";
import { startCloud } from "../../testing/start-cloud.ts";

const cloud = await startCloud({ after }, { works: false });
const ids = await makeOneOfEach(cloud, { client: cloud.admin, name: "mine" });
const exampleOf = await readExamples(cloud.url);

const operations = Object.entries(api).flatMap(([resource, contract]) =>
  Object.entries(contract as Record<string, Operation>)
    .filter(([, { access }]) => access.kind === "apiKey")
    .map(([name, operation]) => [`${resource}.${name}`, operation] as const),
);
const wrongTexts = ["", "x", "-1", "9".repeat(30), "2026-13-01", '"', "%00"];
const wrongValues = [1.5, -1, true, "", "\0", "__proto__", "x".repeat(5000), [], [{}], [null], {}, { "\0": 1 }];

test("a wrong value in a query is named by its parameter", async () => {
  const refusalOf = async (query: string) => {
    const headers = { authorization: `Bearer ${cloud.adminKey}` };
    return ErrorBody.parse(await (await fetch(`${cloud.url}/v1/recordings?${query}`, { headers })).json()).error;
  };
  const statuses = 'must be one of "none", "pending", "importing", "failed", "complete"';
  assert.equal(await refusalOf("limit=1&limit=2"), "limit must be given once");
  assert.equal(await refusalOf("importStatus=nope"), `importStatus ${statuses}`);
  assert.equal(await refusalOf("importStatus=none&importStatus=nope"), `importStatus ${statuses}, which "nope" is not`);
});

/** Yields calls in which one field after the other is wrong, and everything else is right. */
function* wrongCalls(operation: Operation): Generator<{ query: string; body?: unknown }> {
  const body = exampleOf(operation) as Record<string, unknown> | undefined;
  for (const name of Object.keys(operation.query?.shape ?? {}))
    for (const text of wrongTexts)
      yield { query: `?${name}=${text === "%00" ? text : encodeURIComponent(text)}`, body };
  if (!operation.body) return;
  for (const whole of [{}, [], ...wrongValues]) yield { query: "", body: whole };
  for (const name of Object.keys(operation.body.shape))
    for (const value of wrongValues) yield { query: "", body: { ...body, [name]: value } };
}

async function send({ method, path }: Operation, { query, body }: { query: string; body?: unknown }) {
  const kind = /\/([a-z-]+)\/\{/.exec(path)?.[1];
  const response = await fetch(`${cloud.url}${path.replace(/\{\w+\}/, (kind && ids[kind]) ?? "1")}${query}`, {
    method: method.toUpperCase(),
    headers: { authorization: `Bearer ${cloud.adminKey}`, "content-type": "application/json" },
    ...(body !== undefined && method !== "get" && { body: JSON.stringify(body) }),
  });
  return { status: response.status, text: await response.text() };
}

slowTest("the errors of a request are sentences: each names the place, and what it must be", async () => {
  const seen = new Set<string>();
  for (const [name, operation] of operations.filter(([, { method }]) => method !== "delete"))
    for (const call of wrongCalls(operation)) {
      const { status, text } = await send(operation, call);
      assert.ok(status < 500, `${name} ${JSON.stringify(call)} ${text}`);
      if (status === 400) for (const sentence of sentencesOf(text, name)) seen.add(sentence);
    }
  assert.ok(seen.size > 180, `${seen.size}`);
});

for (const [sentence, operation, { query = "", body }] of [
  ["name must not be empty", api.devices.create, { body: { name: "" } }],
  ["limit must be a whole number from 0 to 2000", api.recordings.list, { query: "?limit=-1" }],
  ['sortOrder must be one of "asc", "desc"', api.recordings.list, { query: "?sortOrder=x" }],
  ["start must be an RFC 3339 date-time such as 2026-01-02T03:04:05Z", api.recordings.list, { query: "?start=x" }],
  ["customProperties.0.required is required", api.eventTypes.create, { body: { customProperties: [{}] } }],
  ["autoImport.0 must be a text", api.agentSettings.put, { body: { autoImport: [{}] } }],
  ["metadataQuery has a quote that is not closed at character 1", api.recordings.list, { query: "?metadataQuery=%22" }],
] as readonly [string, Operation, { query?: string; body?: unknown }][])
  test(`it says: ${sentence}`, async () => {
    const { text } = await send(operation, { query, body });
    assert.ok(sentencesOf(text, operation.path).includes(sentence), text);
  });

function sentencesOf(text: string, name: string): string[] {
  const { error, code, details } = ErrorBody.parse(JSON.parse(text));
  if (code !== "InvalidRequest") return [];
  assert.ok(details?.length, `${name} ${text}`);
  return details.map(({ path, message }) => {
    const sentence = path ? `${path} ${message}` : message;
    assert.ok(error.includes(sentence), text);
    if (path) assert.match(message, /^(must|may|is|has|cannot be|names?|matches) /, `${name} ${text}`);
    return sentence;
  });
}
