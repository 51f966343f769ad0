import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, type Operation } from "@downlink/protocol";
import { makeEpisodes } from "../datasets/testing/make-episodes.ts";
import { startCloud } from "../testing/start-cloud.ts";

const cloud = await startCloud({ after }, { works: false });
const { prisma } = cloud.deps.db;
const { projectId, recordingIds } = await makeEpisodes(cloud, []);
const { id: deviceId } = await cloud.admin.call(api.devices.get, { nameOrId: "robot" });

interface Call {
  readonly path: string;
  readonly body?: unknown;
}

async function post({ path, body = {} }: Call, key?: string) {
  const response = await fetch(`${cloud.url}${path}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${cloud.adminKey}`,
      "content-type": "application/json",
      ...(key !== undefined && { "Idempotency-Key": key }),
    },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, text };
}

const posts = Object.values(api)
  .flatMap((contract) => Object.values(contract) as Operation[])
  .filter(({ method, access }) => method === "post" && access.kind === "apiKey");
const making = posts.filter(({ makes }) => makes !== undefined && makes !== "nothing");

test("every POST by API key says what it makes, and nothing else does", () => {
  assert.ok(making.length >= 15);
  for (const { path, makes } of posts) assert.notEqual(makes, undefined, path);
  const others = Object.values(api).flatMap((contract) => Object.values(contract) as Operation[]);
  for (const operation of others) assert.ok(operation.makes === undefined || posts.includes(operation), operation.path);
});

test("the document tells of the key where it counts, and nowhere else", async () => {
  const { paths } = (await (await fetch(`${cloud.url}/v1/openapi.json`)).json()) as {
    paths: Record<string, Record<string, { parameters?: { name: string; in: string }[] }>>;
  };
  const telling = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { parameters = [] }]) =>
      parameters.some((parameter) => parameter.in === "header" && parameter.name === "Idempotency-Key")
        ? [`${method} ${path}`]
        : [],
    ),
  );
  assert.deepEqual(telling.sort(), making.map(({ path }) => `post ${path}`).sort());
});

for (const { path, makes } of making)
  test(`POST ${path} answers with a key as without, and a repeat makes no row anywhere`, async () => {
    const without = await post(await prepare(path));
    assert.equal(without.status, 200, without.text);
    const [call, key] = [await prepare(path), `key of ${path}`];
    const first = await post(call, key);
    assert.deepEqual(
      [first.status, shapeOf(JSON.parse(first.text))],
      [200, shapeOf(JSON.parse(without.text))],
      first.text,
    );
    const before = await countRows();
    const repeated = await post(call, key);
    assert.deepEqual(await countRows(), before);
    const isSecret = typeof makes === "object" && makes.repeat === "secret";
    assert.equal(repeated.status, isSecret ? 409 : 200, repeated.text);
    if (typeof makes === "object" && makes.repeat === "answer") assert.equal(repeated.text, first.text);
    if (typeof makes === "object" && makes.idField !== undefined)
      assert.ok(repeated.text.includes(String(JSON.parse(first.text)[makes.idField])), repeated.text);
  });

const made = { count: 0 };

/** A call that succeeds, with names that nothing else has. */
async function prepare(path: string): Promise<Call> {
  const name = `thing-${++made.count}`;
  if (path === "/v1/datasets/{id}/commit") return { path: path.replace("{id}", await stagedDataset(name)) };
  const bodies: Record<string, unknown> = {
    "/v1/devices": { name, projectId },
    "/v1/datasets": { name, projectId },
    "/v1/sessions": { key: name, deviceId },
    "/v1/projects": { name },
    "/v1/api-keys": { name, capabilities: ["devices.list"] },
    "/v1/layouts": { name, data: {}, permission: "ORG_WRITE" },
    "/v1/data/upload": { filename: `${name}.mcap`, deviceName: name, sessionKey: name, projectId },
    "/v1/events": { deviceId, start: "2026-01-01T00:00:00Z", end: "2026-01-01T00:00:01Z" },
    "/v1/device-tokens": { deviceId },
    "/v1/sites": { name, type: "edge" },
    "/v1/event-types": { name, customProperties: [] },
    "/v1/custom-properties": { key: name, label: name, resourceType: "device", valueType: "string" },
    "/v1/data/import-requests": { recordingIds: [recordingIds[1]] },
    "/v1/episodes": { projectId, episodes: [episode(made.count)] },
  };
  return { path, body: bodies[path] ?? { siteId: await newSite(name, /inbox/.test(path) ? "self-hosted" : "edge") } };
}

async function newSite(name: string, type: "edge" | "self-hosted"): Promise<string> {
  return (await cloud.admin.call(api.sites.create, { name, type })).id;
}

async function stagedDataset(name: string): Promise<string> {
  const { id } = await cloud.admin.call(api.datasets.create, { name, projectId });
  const answer = await post({ path: "/v1/episodes", body: { projectId, episodes: [episode(made.count)] } });
  const { episodes } = JSON.parse(answer.text) as { episodes: { id: string }[] };
  await cloud.admin.call(api.datasets.changeEpisodes, { id, add: episodes.map((one) => one.id) });
  return id;
}

function episode(second: number) {
  const startTime = new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();
  return { recordings: [recordingIds[0]], startTime, endTime: startTime };
}

/** The names of all fields, at whatever depth. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf);
  if (typeof value !== "object" || value === null) return typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shapeOf(inner)]));
}

/** Of every table, jobs included. */
async function countRows(): Promise<Record<string, number>> {
  const tables = await prisma.$queryRaw<{ name: string }[]>`
    SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
    WHERE schemaname = 'public' OR (schemaname = 'pgboss' AND tablename = 'job') ORDER BY 1`;
  const counts: Record<string, number> = {};
  for (const { name } of tables) {
    const [row] = await prisma.$queryRawUnsafe<[{ count: number }]>(`SELECT count(*)::int AS count FROM ${name}`);
    counts[name] = row.count;
  }
  return counts;
}
