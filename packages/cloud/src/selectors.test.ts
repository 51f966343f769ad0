import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, type CallInput, capabilities, ErrorBody, type Operation } from "@downlink/protocol";
import { newId } from "./db/ids.ts";
import { refusedWith } from "./testing/refused-with.ts";
import { sendRequest } from "./testing/send-request.ts";
import { startCloud } from "./testing/start-cloud.ts";

const cloud = await startCloud({ after }, { works: false });
const { admin } = cloud;
const { prisma } = cloud.deps.db;
const site = await admin.call(api.sites.create, { name: "own", type: "self-hosted" });
const [first] = await admin.call(api.projects.list, {});
const { orgId } = await prisma.project.findUniqueOrThrow({ where: { id: first!.id } });
const second = await admin.call(api.projects.create, { name: "second" });
/** Resources that both projects have under one name, or one key. */
const here = await fillProject(first!.id);
const there = await fillProject(second.id);
const limitedKey = await cloud.addKey(capabilities, [second.id]);
const outsider = await cloud.addKey(capabilities, [(await admin.call(api.projects.create, { name: "empty" })).id]);

interface Stored {
  readonly projectId: string;
  readonly deviceId?: string;
  readonly key: string;
  readonly createdAtNs: bigint;
  readonly isImported?: boolean;
}

async function store({ isImported = false, ...row }: Stored): Promise<string> {
  const id = newId("rec");
  const times = { startNs: row.createdAtNs, endNs: row.createdAtNs, durationNs: 0n };
  const file = { path: "a.mcap", sizeBytes: 1n, format: "mcap", messageCount: 1n, metadata: [], isEdge: true } as const;
  const imported = { importStatus: "complete", importedAtNs: 9n, blobKey: `${orgId}/${id}` } as const;
  const status = isImported ? imported : ({ importStatus: "none" } as const);
  await prisma.recording.create({ data: { id, orgId, ...times, ...file, ...status, ...row } });
  return id;
}

async function fillProject(projectId: string) {
  const device = await admin.call(api.devices.create, { name: "shared", projectId });
  const recordingId = await store({ projectId, deviceId: device.id, key: "shared", createdAtNs: 2n, isImported: true });
  const session = await admin.call(api.sessions.create, { key: "shared", recordingIds: [recordingId] });
  return { projectId, deviceId: device.id, recordingId, sessionId: session.id };
}

interface ListOf {
  readonly called: string;
  readonly path: string;
  readonly shape: Record<string, unknown>;
}

/** Every list except those of one thing's parts, which the path names. */
const lists: ListOf[] = Object.entries(api).flatMap(([resource, operations]) =>
  Object.entries(operations as Record<string, Operation>)
    .filter(([, { method, path, access }]) => method === "get" && access.kind === "apiKey" && !path.includes("{"))
    .map(([name, { path, query }]) => ({ called: `${resource}.${name}`, path, shape: query?.shape ?? {} })),
);

/** Further parameters without which a list answers nothing. */
function around({ called }: ListOf, selector: string): Record<string, string> {
  const day = { start: "1970-01-01", end: "1970-01-02" };
  const isOfDevice = selector === "deviceId" || selector === "deviceName";
  if (called === "coverage.list") return day;
  if (called === "coverage.grid") return { start: "1970-01-01", binNs: "1000" };
  if (called === "lakeFiles.list") return { siteId: site.id, ...(isOfDevice && day) };
  return {};
}

async function ask(list: ListOf, given: Record<string, string>, token = cloud.adminKey) {
  const query = new URLSearchParams({ ...around(list, Object.keys(given)[0]!), ...given });
  const headers = { authorization: `Bearer ${token}` };
  const { status, text } = await sendRequest(`${cloud.url}${list.path}?${query}`, { headers });
  const body: unknown = JSON.parse(text);
  return status === 200 ? { status } : { status, ...ErrorBody.parse(body) };
}

const idOf = { deviceId: "dev", recordingId: "rec", sessionId: "sess", siteId: "site", edgeSiteId: "site" } as const;
const kinds = [...Object.keys(idOf), "eventTypeId", "projectId", "deviceName", "recordingKey", "sessionKey"];

for (const list of lists)
  for (const selector of kinds.filter((kind) => kind in list.shape)) {
    const isOfLake = list.called === "lakeFiles.list" && (selector === "siteId" || selector === "projectId");

    test(`${list.called}: a ${selector} that does not exist is 404 and the message names it`, async () => {
      const answer = await ask(list, { [selector]: "nowhere", ...(isOfLake && { recordingId: here.recordingId }) });
      assert.deepEqual([answer.status, "code" in answer && answer.code], [404, "NotFound"]);
      assert.match("error" in answer ? answer.error : "", /nowhere/);
    });
  }

const mayBeEmpty = ({ path }: ListOf, selector: string) =>
  path.startsWith("/v1/recordings") && (selector === "deviceId" || selector === "sessionId");

for (const list of lists) {
  const ofList = kinds.filter((kind) => kind in list.shape);
  const refused = ofList.filter((selector) => !mayBeEmpty(list, selector));
  for (const selector of ofList.filter((each) => mayBeEmpty(list, each)))
    test(`${list.called}: an empty ${selector} selects what has none`, async () => {
      assert.equal((await ask(list, { [selector]: "" })).status, 200);
    });

  if (refused.length > 0)
    test(`${list.called}: an empty selector is 400 and the details name it: ${refused.join(", ")}`, async () => {
      const answer = await ask(list, Object.fromEntries(refused.map((selector) => [selector, ""])));
      assert.equal(answer.status, 400);
      const named = new Set("details" in answer ? answer.details?.map(({ path }) => path) : []);
      assert.deepEqual(
        refused.filter((selector) => !named.has(selector)),
        [],
      );
    });
}

const shared = ["deviceName", "recordingKey", "sessionKey"];

for (const list of lists)
  for (const selector of shared.filter((name) => name in list.shape)) {
    const given = { [selector]: "shared" };

    test(`${list.called}: a ${selector} of several projects is 400 AmbiguousName without projectId`, async () => {
      const answer = await ask(list, given);
      assert.deepEqual([answer.status, "code" in answer && answer.code], [400, "AmbiguousName"]);
      for (const { projectId } of [here, there])
        assert.equal((await ask(list, { ...given, projectId })).status, 200, projectId);
    });

    test(`${list.called}: a ${selector} reveals nothing that a key may not see: it is not ambiguous, or 404`, async () => {
      assert.equal((await ask(list, given, limitedKey)).status, 200);
      assert.equal((await ask(list, given, outsider)).status, 404);
    });
  }

for (const list of lists)
  for (const selector of Object.keys(idOf).filter((name) => name in list.shape && name in here)) {
    test(`${list.called}: a ${selector} of a project that the key may not see is 404`, async () => {
      const given = { [selector]: here[selector as keyof typeof here] };
      assert.equal((await ask(list, given)).status, 200);
      assert.equal((await ask(list, given, limitedKey)).status, 404);
    });
  }

type Export = CallInput<typeof api.exports.create>;

test("an export by key has one project's recording, never several projects' in one file", async () => {
  const asks = (body: Export, client = admin) => client.call(api.exports.create, body);
  await assert.rejects(asks({ recordingKey: "shared" }), refusedWith("AmbiguousName"));
  const byKey = await fetch(`${cloud.url}/v1/data/stream`, {
    method: "POST",
    headers: { authorization: `Bearer ${cloud.adminKey}`, "content-type": "application/json" },
    body: JSON.stringify({ key: "shared" }),
  });
  assert.equal(ErrorBody.parse(await byKey.json()).code, "AmbiguousName");
  await assert.rejects(asks({ sessionKey: "shared" }), refusedWith("AmbiguousName"));
  assert.ok((await asks({ recordingKey: "shared", projectId: second.id })).link);
  assert.ok((await asks({ recordingKey: "shared" }, cloud.withToken(limitedKey))).link);
  await assert.rejects(asks({ recordingKey: "shared" }, cloud.withToken(outsider)), refusedWith("NotFound"));
  await assert.rejects(asks({ recordingKey: "nowhere" }), /"nowhere" not found/);
  const other = await cloud.otherOrganization();
  await assert.rejects(asks({ recordingId: here.recordingId }, other), refusedWith("NotFound"));
});

test("of copies with one key the imported one is found, else the oldest; the id wins over the key", async () => {
  const { projectId, deviceId } = here;
  const of = { projectId, deviceId, key: "copied" };
  const younger = await store({ ...of, createdAtNs: 5n });
  const oldest = await store({ ...of, createdAtNs: 3n });
  const span = { start: 0n, end: 100n, includeEdgeRecordings: true };
  const startOf = async (more: { recordingId?: string }) => {
    const ranges = await admin.call(api.coverage.list, { ...span, recordingKey: "copied", ...more });
    assert.equal(ranges.length, 1);
    return ranges[0]!.start;
  };
  assert.equal(await startOf({}), 3n);
  await assert.rejects(
    admin.call(api.exports.create, { recordingKey: "copied" }),
    refusedWith("NoStreamableRecordings"),
  );
  await store({ ...of, createdAtNs: 7n, isImported: true });
  assert.equal(await startOf({}), 7n);
  assert.equal(await startOf({ recordingId: younger }), 5n);
  assert.ok((await admin.call(api.exports.create, { recordingKey: "copied" })).link);
  assert.equal((await admin.call(api.recordings.get, { keyOrId: "copied" })).start, 7n);
  await prisma.recording.deleteMany({ where: { id: { in: [younger, oldest] } } });
});

test("a filter finds nothing instead: requestId, importId, eventId, filename, path, topic and the key of pending imports", async () => {
  const filters = ["requestId", "importId", "eventId", "filename", "path", "topic", "key"];
  const asked = lists.flatMap((list) => filters.filter((name) => name in list.shape).map((name) => ({ list, name })));
  assert.ok(asked.length > 8);
  for (const { list, name } of asked) {
    const more: Record<string, string> = list.called === "lakeFiles.list" ? { recordingId: here.recordingId } : {};
    assert.equal((await ask(list, { [name]: "nowhere", ...more })).status, 200, `${list.called} ${name}`);
  }
});

test("a deleted session does not exist: its id and its key are 404 in every list", async () => {
  const { id } = await admin.call(api.sessions.create, { key: "deleted", deviceId: here.deviceId });
  await admin.call(api.sessions.delete, { keyOrId: id });
  for (const list of lists.filter(({ shape }) => "sessionId" in shape))
    for (const [selector, value] of Object.entries({ sessionId: id, sessionKey: "deleted" }))
      assert.equal((await ask(list, { [selector]: value })).status, 404, list.called);
});

test("a deleted recording is known by the episodes that have it", async () => {
  const recordingId = await store({ projectId: second.id, key: "brief", createdAtNs: 1n });
  const item = { recordings: [recordingId] };
  const { episodes } = await admin.call(api.episodes.getOrCreate, { projectId: second.id, episodes: [item] });
  await prisma.recording.delete({ where: { id: recordingId } });
  const found = await admin.call(api.episodes.list, { recordingId });
  assert.deepEqual(
    found.episodes.map(({ id }) => id),
    episodes.map(({ id }) => id),
  );
  await assert.rejects(cloud.withToken(outsider).call(api.episodes.list, { recordingId }), refusedWith("NotFound"));
});
