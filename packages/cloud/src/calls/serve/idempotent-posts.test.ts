import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, extensionUpload, type Operation, plainRoutes, TrainingMapping } from "@downlink/protocol";
import { makeEpisodes } from "../../data/datasets/testing/make-episodes.ts";
import { makeZip } from "../../organization/extensions/testing/make-zip.ts";
import { storeMember } from "../../testing/one-of-each.ts";
import { sendRequest } from "../../testing/send-request.ts";
import { startCloud } from "../../testing/start-cloud.ts";

const cloud = await startCloud({ after }, { works: false });
const { prisma, pool } = cloud.deps.db;
const { projectId, recordingIds } = await makeEpisodes(cloud, []);
await prisma.recording.update({ where: { id: recordingIds[0] }, data: { blobKey: "stored" } });
const { id: deviceId } = await cloud.admin.call(api.devices.get, { nameOrId: "robot" });
const countEach = await queryCounts();

interface Call {
  readonly path: string;
  readonly body?: unknown;
  /** The bytes are sent as they are. */
  readonly bytes?: Uint8Array<ArrayBuffer>;
}

async function post({ path, body = {}, bytes }: Call, key?: string) {
  const { status, text } = await sendRequest(`${cloud.url}${path}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${cloud.adminKey}`,
      "content-type": bytes ? "application/octet-stream" : "application/json",
      ...(key !== undefined && { "Idempotency-Key": key }),
    },
    body: bytes ?? JSON.stringify(body),
  });
  return { status, text };
}

const posts = Object.values(api)
  .flatMap((contract) => Object.values(contract) as Operation[])
  .filter(({ method, access }) => method === "post" && access.kind === "apiKey");
const plainPosts = plainRoutes.filter(({ method, access }) => method === "post" && typeof access === "object");
const making = [...posts, ...plainPosts].filter(({ makes }) => makes !== undefined && makes !== "nothing");

test("every POST by API key declares what it creates, and no other operation does", () => {
  assert.ok(making.length >= 15);
  for (const { path, makes } of [...posts, ...plainPosts]) assert.notEqual(makes, undefined, path);
  const others = Object.values(api).flatMap((contract) => Object.values(contract) as Operation[]);
  for (const operation of others) assert.ok(operation.makes === undefined || posts.includes(operation), operation.path);
  for (const route of plainRoutes) assert.ok(route.makes === undefined || plainPosts.includes(route), route.path);
});

test("the document names the key at the operations where it has an effect, and nowhere else", async () => {
  const { paths } = (await (await fetch(`${cloud.url}/v1/openapi.json`)).json()) as {
    paths: Record<string, Record<string, { parameters?: { name: string; in: string }[] }>>;
  };
  const documented = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { parameters = [] }]) =>
      parameters.some((parameter) => parameter.in === "header" && parameter.name === "Idempotency-Key")
        ? [`${method} ${path}`]
        : [],
    ),
  );
  assert.deepEqual(documented.sort(), making.map(({ path }) => `post ${path}`).sort());
});

for (const { path, makes } of making)
  test(`POST ${path} answers with a key as without, and a repeat inserts no row anywhere`, async () => {
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

test("a package that is sent again with its key is stored once, and another package with that key is refused and not stored", async () => {
  const objects = async () => (await Array.fromAsync(cloud.deps.blobs.list(""))).length;
  const path = extensionUpload.path;
  const [before, key] = [await objects(), "a package"];
  const [first, ...repeats] = await Promise.all([1, 2, 3].map(() => post({ path, bytes: packageOf("once") }, key)));
  for (const { status, text } of [first!, ...repeats]) assert.deepEqual([status, text], [200, first!.text]);
  const other = await post({ path, bytes: packageOf("another") }, key);
  assert.deepEqual([other.status, JSON.parse(other.text).code], [409, "IdempotencyConflict"]);
  const refused = await post({ path, bytes: packageOf("") }, "a bad package");
  assert.deepEqual(await post({ path, bytes: packageOf("") }, "a bad package"), refused);
  assert.equal(refused.status, 400);
  assert.equal(await objects(), before + 1);
});

const made = { count: 0 };

/** Prepares a call that succeeds, with names that nothing else has. */
async function prepare(path: string): Promise<Call> {
  const name = `thing-${++made.count}`;
  if (path === extensionUpload.path) return { path, bytes: packageOf(name) };
  if (path === "/v1/datasets/{id}/commit") return { path: path.replace("{id}", await stagedDataset(name)) };
  if (path.startsWith("/v1/webhooks/{id}/")) return { path: path.replace("{id}", await newWebhook(name)), body: {} };
  if (path === "/v1/members/{id}/password-reset")
    return { path: path.replace("{id}", await storeMember(cloud, { client: cloud.admin, name })), body: {} };
  if (path.includes("/datasets/{id}/")) return prepareTraining(path, name);
  const bodies: Record<string, unknown> = {
    "/v1/devices": { name, projectId },
    "/v1/datasets": { name, projectId },
    "/v1/sessions": { key: name, deviceId },
    "/v1/projects": { name },
    "/v1/api-keys": { name, capabilities: ["devices.list"] },
    "/v1/layouts": { name, data: {}, permission: "ORG_WRITE" },
    "/v1/data/uploads": { filename: `${name}.mcap`, deviceName: name, size: 1, projectId },
    "/v1/data/upload": { filename: `${name}.mcap`, deviceName: name, sessionKey: name, projectId },
    "/v1/events": { deviceId, start: "2026-01-01T00:00:00Z", end: "2026-01-01T00:00:01Z" },
    "/v1/device-tokens": { deviceId },
    "/v1/invitations": { email: `${name}@example.org` },
    "/v1/sites": { name, type: "edge" },
    "/v1/event-types": { name, customProperties: [] },
    "/v1/custom-properties": { key: name, label: name, resourceType: "device", valueType: "string" },
    "/v1/view-links": { recordingId: recordingIds[0] },
    "/v1/data/import-requests": { recordingIds: [recordingIds[1]] },
    "/v1/webhooks": { name, url: "https://example.org", eventTypes: ["device.created"] },
    "/v1/episodes": { projectId, episodes: [episode(made.count)] },
  };
  return { path, body: bodies[path] ?? { siteId: await newSite(name, /inbox/.test(path) ? "self-hosted" : "edge") } };
}

/** A dataset with a committed version, for which a mapping is kept, or a set built. */
async function prepareTraining(path: string, name: string): Promise<Call> {
  const id = await stagedDataset(name);
  await cloud.admin.call(api.datasetVersions.commit, { id });
  const mapping = TrainingMapping.parse({ fps: 10, features: { x: { dtype: "float32", parts: [{ topic: "/x" }] } } });
  const { id: mappingId } = await cloud.admin.call(api.datasetMappings.create, { id, name, mapping });
  const filled = path.replace("{id}", id).replace("{versionNumber}", "1");
  return { path: filled, body: path.endsWith("/mappings") ? { name: `${name}-2`, mapping } : { mappingId } };
}

function packageOf(name: string, more: object = {}): Uint8Array<ArrayBuffer> {
  const manifest = { name, publisher: "acme", version: "1", displayName: name, ...more };
  return new Uint8Array(makeZip([{ name: "package.json", content: JSON.stringify(manifest) }]));
}

async function newSite(name: string, type: "edge" | "self-hosted"): Promise<string> {
  return (await cloud.admin.call(api.sites.create, { name, type })).id;
}

async function newWebhook(name: string): Promise<string> {
  const webhook = { name, url: "https://example.org", eventTypes: ["dataset.committed" as const] };
  return (await cloud.admin.call(api.webhooks.create, webhook)).id;
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

/** Collects the names of all fields, at any depth. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf);
  if (typeof value !== "object" || value === null) return typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shapeOf(inner)]));
}

/** Counts the rows of every table, jobs included. */
async function countRows(): Promise<Record<string, number>> {
  const { rows } = await pool.query<{ name: string; count: number }>(countEach);
  return Object.fromEntries(rows.map(({ name, count }) => [name, count]));
}

/** Makes one statement: one for each table would take longer than everything else here. */
async function queryCounts(): Promise<string> {
  const tables = await prisma.$queryRaw<{ name: string }[]>`
    SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
    WHERE schemaname = 'public' OR (schemaname = 'pgboss' AND tablename = 'job') ORDER BY 1`;
  return tables.map(({ name }) => `SELECT '${name}' AS name, count(*)::int AS count FROM ${name}`).join(" UNION ALL ");
}
