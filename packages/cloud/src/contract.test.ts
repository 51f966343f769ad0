import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, capabilities, ErrorBody, type Operation, pathParameters } from "@downlink/protocol";
import { newId } from "./db/ids.ts";
import { startCloud } from "./testing/start-cloud.ts";
import { brokenItem, recordingItem, startAgent } from "./testing/test-agent.ts";

const cloud = await startCloud({ after }, { works: false });
const { orgId, id: deviceId } = await cloud.admin.call(api.devices.create, { name: "robot" });
const { token: deviceToken } = await cloud.admin.call(api.deviceTokens.create, { deviceId });
const other = await cloud.otherOrganization();
const theirs = await makeOneOfEach(other);
const document = (await (await fetch(`${cloud.url}/v1/openapi.json`)).json()) as OpenApi;

interface OpenApi {
  readonly paths: Record<string, Record<string, { requestBody?: { content: Record<string, { example: unknown }> } }>>;
}

interface Sent {
  readonly token?: string;
  readonly query?: string;
  readonly id?: string;
  /** With a body that the contract takes, as its documentation shows it. */
  readonly isComplete?: boolean;
}

async function send(operation: Operation, { token, query = "", id = "unknown", isComplete = false }: Sent) {
  const path = pathParameters(operation.path).reduce(
    (text, name) => text.replace(`{${name}}`, name === "versionNumber" ? "1" : id),
    operation.path,
  );
  const response = await fetch(`${cloud.url}${path}${query}`, {
    method: operation.method.toUpperCase(),
    headers: { "content-type": "application/json", ...(token !== undefined && { authorization: `Bearer ${token}` }) },
    ...(isComplete && { body: exampleBody(operation) }),
  });
  const body = response.status === 204 ? undefined : ((await response.json()) as unknown);
  return { status: response.status, body, headers: response.headers };
}

for (const [resource, operations] of Object.entries(api))
  for (const [name, operation] of Object.entries(operations as Record<string, Operation>)) {
    const called = `${resource}.${name}`;

    test(`${called} refuses a call without a token, and one with an unknown token: 401`, async () => {
      for (const token of [undefined, "dl_sk_unknown"]) {
        const { status, body, headers } = await send(operation, { token });
        assert.equal(status, 401);
        assert.equal(ErrorBody.parse(body).code, "Unauthenticated");
        assert.match(headers.get("content-type")!, /^application\/json/);
        assert.ok(headers.get("x-request-id"));
      }
    });

    if (operation.access.kind === "apiKey") {
      const { capability } = operation.access;
      test(`${called} refuses a key without its capability, and names it: 403`, async () => {
        const key = await cloud.addKey(capabilities.filter((held) => held !== capability));
        const { status, body } = await send(operation, { token: key });
        assert.equal(status, 403);
        assert.equal(ErrorBody.parse(body).code, "MissingCapability");
        assert.ok(ErrorBody.parse(body).error.includes(capability));
      });
    }

    test(`${called} refuses a credential of the wrong kind: 403`, async () => {
      const { status, body } = await send(operation, {
        token: operation.access.kind === "agent" ? cloud.adminKey : deviceToken,
      });
      assert.equal(status, 403);
      assert.equal(ErrorBody.parse(body).code, "WrongCredentialKind");
    });

    if (operation.query && "limit" in operation.query.shape)
      test(`${called} refuses a limit above 2000: 400`, async () => {
        const query = `?${requiredQuery(operation)}&limit=2001`;
        const { status, body } = await send(operation, { token: cloud.adminKey, query });
        assert.equal(status, 400);
        assert.equal(ErrorBody.parse(body).details?.[0]?.path, "limit");
      });

    if (operation.path.includes("{") && operation.access.kind === "apiKey")
      test(`${called} answers 404 for another organization's id, with no trace of the other's data`, async () => {
        const id = idOfOther(operation.path);
        const query = `?${requiredQuery(operation)}`;
        const { status, body } = await send(operation, { token: cloud.adminKey, id, query, isComplete: true });
        // The documented body of a layout is one that no API key may write, whosever layout it is.
        assert.equal(status, called === "layouts.update" ? 403 : 404);
        assert.ok(!JSON.stringify(body).includes("theirs"));
      });

    if (
      operation.query &&
      "projectId" in operation.query.shape &&
      operation.method === "get" &&
      !operation.path.includes("{")
    )
      test(`${called} answers 404 for another organization's project`, async () => {
        const window = "start" in operation.query!.shape ? "&start=2026-01-01&end=2026-01-02" : "";
        const lake = called === "lakeFiles.list" ? `&siteId=${theirs.sites}&recordingKey=theirs` : "";
        const { status } = await send(operation, {
          token: cloud.adminKey,
          query: `?projectId=${theirs.projects}${window}${lake}`,
        });
        assert.equal(status, 404);
      });
  }

function requiredQuery({ query }: Operation): string {
  return query && "version" in query.shape ? "version=1" : "";
}

function exampleBody({ path, method }: Operation): string | undefined {
  const content = document.paths[path]![method]!.requestBody?.content["application/json"];
  return content && JSON.stringify(content.example);
}

/** The other organization's resource of the kind that stands before the path's parameter. */
function idOfOther(path: string): string {
  const kind = /\/([a-z-]+)\/\{/.exec(path)![1]!;
  return theirs[kind] ?? assert.fail(`the test makes no ${kind} of another organization`);
}

async function makeOneOfEach(client: typeof other): Promise<Record<string, string>> {
  const agent = await startAgent({ ...cloud, admin: client }, "theirs");
  const { deviceId } = agent;
  await agent.report([recordingItem({ path: "theirs.mcap" }), brokenItem({ path: "theirs-too.mcap" })]);
  const device = await client.call(api.devices.get, { nameOrId: deviceId });
  const times = { start: 1n, end: 2n };
  const label = { label: "theirs", valueType: "string", resourceType: "event" } as const;
  const site = await client.call(api.sites.create, { name: "theirs", type: "self-hosted" });
  const extension = {
    id: newId("ext"),
    orgId: device.orgId,
    publisher: "theirs",
    name: "theirs",
    identity: "theirs.theirs",
  };
  const stamps = { displayName: "theirs", createdAtNs: 1n, updatedAtNs: 1n };
  await cloud.deps.db.prisma.extension.create({ data: { ...extension, ...stamps } });
  const imported = { id: newId("imp"), orgId: device.orgId, projectId: device.projectId, recordingId: newId("rec") };
  const about = { siteId: site.id, filename: "theirs", format: "mcap", sizeBytes: 1n, importedAtNs: 1n };
  await cloud.deps.db.prisma.import.create({ data: { ...imported, ...about, startNs: 1n, endNs: 2n } });
  const [recording] = await client.call(api.recordings.list, {});
  const { episodes } = await client.call(api.episodes.getOrCreate, {
    projectId: device.projectId,
    episodes: [{ recordings: [recording!.id], metadata: { whose: "theirs" } }],
  });
  const dataset = await client.call(api.datasets.create, {
    projectId: device.projectId,
    name: "theirs",
    episodeIds: [episodes[0]!.id],
  });
  await client.call(api.datasetVersions.commit, { id: dataset.id });
  const layout = { id: "another-one", name: "theirs", permission: "ORG_WRITE", data: {} } as const;
  const made = {
    projects: client.call(api.projects.create, { name: "theirs" }),
    "api-keys": client.call(api.apiKeys.create, { name: "theirs", capabilities: ["devices.list"] }),
    devices: Promise.resolve(device),
    "device-tokens": client.call(api.deviceTokens.create, { deviceId }),
    "custom-properties": client.call(api.customProperties.create, { key: "theirs", ...label }),
    "event-types": client.call(api.eventTypes.create, { name: "theirs", customProperties: [] }),
    events: client.call(api.events.create, { deviceId, ...times, metadata: { whose: "theirs" } }),
    recordings: Promise.resolve(recording!),
    episodes: Promise.resolve(episodes[0]!),
    datasets: Promise.resolve(dataset),
    "pending-imports": client
      .call(api.uploads.create, { filename: "theirs", deviceId })
      .then(({ requestId }) => ({ id: requestId })),
    imports: Promise.resolve(imported),
    "recording-attachments": addAttachment(client, { ...device, siteId: site.id }),
    sessions: client.call(api.sessions.create, { deviceId, key: "theirs" }),
    sites: Promise.resolve(site),
    "site-tokens": client.call(api.siteTokens.create, { siteId: site.id }),
    "site-inbox-notification-tokens": client.call(api.inboxTokens.create, { siteId: site.id }),
    "edge-files": client.call(api.edgeFiles.list, {}).then(([file]) => file!),
    extensions: Promise.resolve(extension),
    layouts: client.call(api.layouts.create, layout),
  };
  const entries = Object.entries(made).map(async ([kind, one]) => [kind, (await one).id] as const);
  return Object.fromEntries(await Promise.all(entries));
}

async function addAttachment(client: typeof other, owner: { orgId: string; projectId: string; siteId: string }) {
  const { orgId, projectId, siteId } = owner;
  const [recording] = await client.call(api.recordings.list, {});
  const sizes = { crc: 0n, dataOffset: 0n, sizeBytes: 0n, logTimeNs: 1n, createTimeNs: 1n };
  const named = { recordingId: recording!.id, name: "theirs", mediaType: "theirs" };
  const data = { id: newId("att"), orgId, projectId, siteId, ...named, ...sizes };
  return cloud.deps.db.prisma.recordingAttachment.create({ data });
}

test("another organization sees none of this one's devices", async () => {
  const [seen] = await other.call(api.devices.list, {});
  assert.notEqual(seen!.orgId, orgId);
  assert.deepEqual(
    (await other.call(api.devices.list, {})).map((device) => device.name),
    ["theirs"],
  );
});

test("an unknown path is a JSON 404", async () => {
  const response = await fetch(`${cloud.url}/v1/nothing`);
  assert.equal(response.status, 404);
  assert.equal(ErrorBody.parse(await response.json()).code, "NotFound");
});

test("a body that is not JSON is 400 with code MalformedJson, and one over 4 MiB is 413", async () => {
  const headers = { authorization: `Bearer ${cloud.adminKey}`, "content-type": "application/json" };
  const post = (body: string) => fetch(`${cloud.url}/v1/devices`, { method: "POST", headers, body });
  const malformed = await post("{");
  assert.deepEqual([malformed.status, ErrorBody.parse(await malformed.json()).code], [400, "MalformedJson"]);
  const array = await post("[]");
  assert.equal(array.status, 400);
  const large = await post(`{"name":"${"x".repeat(4 * 1024 * 1024)}"}`);
  assert.deepEqual([large.status, ErrorBody.parse(await large.json()).code], [413, "BodyTooLarge"]);
});

test("a sane X-Request-Id is echoed, an insane one replaced", async () => {
  const ask = async (id: string) =>
    (await fetch(`${cloud.url}/livez`, { headers: { "x-request-id": id } })).headers.get("x-request-id");
  assert.equal(await ask("abc-123"), "abc-123");
  assert.notEqual(await ask("a b"), "a b");
});
