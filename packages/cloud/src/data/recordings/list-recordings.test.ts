import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, test } from "node:test";
import type { ApiCallError } from "@downlink/client";
import { api, type CallInput, type Recording } from "@downlink/protocol";
import { newId } from "../../db/ids.ts";
import { refusedWith } from "../../testing/refused-with.ts";
import { sendRequest } from "../../testing/send-request.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { type StoredRecording, storeRecordings } from "../../testing/stored-recordings.ts";

const cloud = await startCloud({ after }, { works: false });
const { admin } = cloud;
const { prisma } = cloud.deps.db;
const other = await cloud.otherOrganization();
const { stored, devices, primarySite, edgeSites, sessions, projectId } = await storeRecordings(cloud);

type ListQuery = CallInput<typeof api.recordings.list>;
const list = (query: ListQuery = {}) => admin.call(api.recordings.list, query);
const ids = (found: readonly { readonly id: string }[]) => found.map(({ id }) => id);
/** Returns ids in the order of creation. */
const idsWhere = (isMatch: (row: StoredRecording, i: number) => boolean) =>
  ids(stored.filter(isMatch).toSorted((a, b) => Number(a.createdAtNs - b.createdAtNs) || (a.id < b.id ? -1 : 1)));

async function send(query: string) {
  const headers = { authorization: `Bearer ${cloud.adminKey}` };
  const { status, text } = await sendRequest(`${cloud.url}/v1/recordings?${query}`, { headers });
  return { status, body: JSON.parse(text) as Recording[] & { error: string } };
}

test("a recording that touches the range at only one nanosecond is found", async () => {
  const row = stored[2]!;
  const finds = async (query: ListQuery) => ids(await list(query)).includes(row.id);
  assert.ok(await finds({ start: row.endNs, end: row.endNs + 5n }));
  assert.ok(await finds({ start: row.startNs - 5n, end: row.startNs }));
  assert.ok(!(await finds({ start: row.endNs + 1n })));
  assert.ok(!(await finds({ end: row.startNs - 1n })));
  assert.deepEqual(await list({ start: 60n, end: 59n }), []);
});

test("without sort the order is that of creation; limit 0 is an empty list, and 2000 is allowed", async () => {
  assert.deepEqual(
    ids(await list()),
    idsWhere(() => true),
  );
  assert.deepEqual(await list({ limit: 0 }), []);
  assert.equal((await list({ limit: 2000 })).length, stored.length);
  assert.deepEqual(await list({ offset: 1_000_000_000_000 }), []);
});

test("recordings without a device, and those that were never imported, come last in either order", async () => {
  const unnamed = stored.filter(({ deviceId }) => deviceId === null).length;
  const unimported = stored.filter(({ importedAtNs }) => importedAtNs === null).length;
  for (const sortOrder of ["asc", "desc"] as const) {
    const byName = await list({ sortBy: "deviceName", sortOrder });
    assert.ok(byName.slice(-unnamed).every(({ device }) => device === undefined));
    const byImport = await list({ sortBy: "importedAt", sortOrder });
    assert.ok(byImport.slice(-unimported).every(({ importedAt }) => importedAt === undefined));
    const tail = await list({ sortBy: "importedAt", sortOrder, limit: 5, offset: stored.length - 3 });
    assert.deepEqual(tail, byImport.slice(-3));
  }
});

test("`path` is exact, byte for byte, even if paths agree in hundreds of characters", async () => {
  for (const i of [0, 1, 2, 3, 4, 7]) {
    const { path } = stored[i]!;
    assert.deepEqual(
      ids(await list({ path })),
      idsWhere((row) => row.path === path),
      path,
    );
  }
  assert.deepEqual(await list({ path: "runs/" }), []);
  assert.deepEqual(await list({ path: "RUNS/0.mcap" }), []);
});

test("`pathMatches` finds a part of the path in upper or lower case, of three letters and of fewer, taken literally", async () => {
  for (const part of ["RUNS/3", "s/3.", "mcap", "ÜBER", "g2", "3", "🤖", "～", "%", "_uns", "nowhere", "zq"]) {
    const expected = idsWhere(({ path }) => path.toLowerCase().includes(part.toLowerCase()));
    assert.deepEqual(ids(await list({ pathMatches: part })), expected, part);
  }
  assert.equal((await list({ pathMatches: "" })).length, stored.length);
  const [first] = stored;
  assert.deepEqual(ids(await list({ pathMatches: "RUNS/0", path: first!.path, deviceId: first!.deviceId! })), [
    ...idsWhere(({ path, deviceId }) => path === first!.path && deviceId === first!.deviceId),
  ]);
  assert.deepEqual(await other.call(api.recordings.list, { pathMatches: "runs" }), []);
});

test("`site.id` and `edgeSite.id` select a site, and so do siteId and edgeSiteId", async () => {
  const atPrimary = idsWhere(({ siteId }) => siteId !== null);
  const atFirst = idsWhere(({ edgeSiteId }) => edgeSiteId === edgeSites[0]!.id);
  for (const name of ["site.id", "siteId"])
    assert.deepEqual(ids((await send(`${name}=${primarySite.id}`)).body), atPrimary, name);
  for (const name of ["edgeSite.id", "edgeSiteId"])
    assert.deepEqual(ids((await send(`${name}=${edgeSites[0]!.id}`)).body), atFirst, name);
});

test("`deviceId` (empty string selects recordings with no device), `deviceName` and their aliases select by device", async () => {
  const [b, a] = devices;
  const ofA = idsWhere(({ deviceId }) => deviceId === a!.id);
  for (const query of ["deviceName=a", "device.name=a", `device.id=${a!.id}`, `deviceId=${a!.id}&device.id=${b!.id}`])
    assert.deepEqual(ids((await send(query)).body), ofA, query);
  const without = idsWhere(({ deviceId }) => deviceId === null);
  assert.deepEqual(ids((await send("deviceId=")).body), without);
  assert.deepEqual(ids((await send("device.id=")).body), without);
  assert.equal((await send("deviceName=unknown")).status, 404);
  assert.equal((await send("deviceId=dev_unknown")).status, 404);
});

test("`deviceIds` selects the recordings of several devices, in every order; ids of no device of the caller select nothing", async () => {
  const [b, a] = devices;
  const some = [a!.id, "dev_unknown", b!.id];
  const isTheirs = ({ deviceId }: StoredRecording) => deviceId === a!.id || deviceId === b!.id;
  assert.deepEqual(ids((await send(`deviceIds=${some.join(",")}`)).body), idsWhere(isTheirs));
  assert.deepEqual(
    ids(await list({ deviceIds: [b!.id] })),
    idsWhere(({ deviceId }) => deviceId === b!.id),
  );
  for (const sortBy of ["start", "end", "path", "deviceName", "importedAt"] as const)
    assert.deepEqual(
      ids(await list({ deviceIds: some, sortBy, sortOrder: "desc", start: 0n })),
      ids(
        (await list({ sortBy, sortOrder: "desc", start: 0n })).filter(({ device }) => some.includes(device?.id ?? "")),
      ),
      sortBy,
    );
  assert.deepEqual(await other.call(api.recordings.list, { deviceIds: some }), []);
  const tooMany = Array.from({ length: 201 }, (_, i) => `dev_${i}`);
  assert.match((await send(`deviceIds=${tooMany.join(",")}`)).body.error, /deviceIds must name at most 200/);
});

test("`sessionId` (empty string selects recordings with no session) and `sessionKey` select by session", async () => {
  const ofFirst = idsWhere(({ sessionId }) => sessionId === sessions[0]!.id);
  assert.deepEqual(ids((await send(`sessionId=${sessions[0]!.id}`)).body), ofFirst);
  assert.deepEqual(ids(await list({ sessionKey: "Prüf/stand" })), ofFirst);
  assert.deepEqual(
    ids((await send("sessionId=")).body),
    idsWhere(({ sessionId }) => sessionId === null),
  );
  assert.equal((await send("sessionKey=unknown")).status, 404);
});

test("`importStatus` may be given once, repeated, comma-separated or indexed, with an encoded slash or a plain one", async () => {
  const either = idsWhere(({ importStatus }) => importStatus === "failed" || importStatus === "pending");
  const spellings = [
    "importStatus=failed,pending",
    "importStatus=failed&importStatus=pending",
    "importStatus/0=failed&importStatus/1=pending",
    "importStatus%2F0=failed&importStatus%2F1=pending",
  ];
  for (const spelling of spellings) assert.deepEqual(ids((await send(spelling)).body), either, spelling);
  assert.deepEqual(
    ids((await send("importStatus=importing")).body),
    idsWhere(({ importStatus }) => importStatus === "importing"),
  );
  assert.equal((await send("importStatus=done")).status, 400);
});

const idsOfNumbers = (isMatch: (i: number) => boolean) => idsWhere((_, i) => isMatch(i));

test("`metadataQuery`: a recording matches if any one of its metadata records matches all terms", async () => {
  const matching = async (metadataQuery: string) => ids(await list({ metadataQuery }));
  assert.deepEqual(
    await matching("operator:ann"),
    idsOfNumbers((i) => i % 3 === 0),
  );
  assert.deepEqual(
    await matching('operator:"Bob B.",cem number:*'),
    idsOfNumbers((i) => i % 3 !== 0),
  );
  assert.deepEqual(
    await matching("map:*"),
    idsOfNumbers((i) => i % 6 === 0),
  );
  assert.deepEqual(
    await matching("*:Köln"),
    idsOfNumbers((i) => i % 6 === 0),
  );
  assert.deepEqual(
    await matching("kÖL operator:cem"),
    idsOfNumbers((i) => i % 6 === 0),
  );
  assert.deepEqual(await matching("map:* operator:ann"), [], "of two records");
  assert.deepEqual(await matching("number:7 bob"), [stored[7]!.id]);
  assert.deepEqual(await matching("vehicle"), [], "a record's name is no key and no value");
  assert.deepEqual(
    await matching(""),
    idsWhere(() => true),
  );
});

test("a malformed `metadataQuery` is 400 and the error says where", async () => {
  const { status, body } = await send(`metadataQuery=${encodeURIComponent('foo "bar')}`);
  assert.equal(status, 400);
  assert.match(JSON.stringify(body), /metadataQuery.*at character 5/);
});

test("unknown parameters and filters by an empty text are ignored", async () => {
  const { body } = await send("unknown=1&path=&topic=&metadataQuery=");
  assert.equal(body.length, stored.length);
});

test("a listed recording has all its fields, and equals what get answers", async () => {
  const i = 28; // a recording of an edge site, with key and session
  const row = stored[i]!;
  const listed = (await list()).find(({ id }) => id === row.id)!;
  assert.deepEqual(listed, {
    id: row.id,
    projectId,
    path: row.path,
    size: i,
    createdAt: row.createdAtNs,
    start: row.startNs,
    end: row.endNs,
    importStatus: row.importStatus,
    edgeSite: { id: edgeSites[0]!.id, name: "e1" },
    device: { id: devices[0]!.id, name: "b" },
    key: row.key,
    metadata: row.metadata,
    messageCount: 1,
  });
  const inSession = (await list()).find(({ id }) => id === stored[8]!.id)!;
  assert.deepEqual([inSession.sessionId, inSession.sessionKey], [sessions[1]!.id, "run 2"]);
  const imported = (await list({ importStatus: ["complete"], sessionId: sessions[0]!.id }))[0]!;
  assert.deepEqual(imported.site, { id: primarySite.id, name: "primary", indexingStrategy: "whole-files" });
  assert.ok(imported.importedAt !== undefined && imported.sessionId === sessions[0]!.id);
  assert.equal(imported.location, undefined, "only of files in a customer's own bucket");
  assert.deepEqual(await admin.call(api.recordings.get, { keyOrId: row.id }), listed);
  assert.deepEqual(
    await admin.call(api.recordings.get, { keyOrId: row.key! }),
    listed,
    "a key with a slash and a percent",
  );
});

test("another organization's ids, names and keys are 404, and filters find none of its recordings", async () => {
  const asked = (query: ListQuery) => other.call(api.recordings.list, query);
  assert.deepEqual(await asked({}), []);
  for (const query of [{ topic: "/rare" }, { path: stored[0]!.path }])
    assert.deepEqual(await asked(query), [], JSON.stringify(query));
  const isNotFound = refusedWith(404);
  const sites = [{ siteId: primarySite.id }, { edgeSiteId: edgeSites[0]!.id }];
  const named = [{ sessionId: sessions[0]!.id }, { sessionKey: "run 2" }, { deviceName: "a" }];
  for (const query of [...sites, ...named, { deviceId: devices[0]!.id }, { projectId }])
    await assert.rejects(asked(query), isNotFound, JSON.stringify(query));
  await assert.rejects(other.call(api.recordings.get, { keyOrId: stored[0]!.id }), isNotFound);
});

test("a list shows only the caller's projects, and only one of them if `projectId` names it", async () => {
  const second = await admin.call(api.projects.create, { name: "second" });
  const { topic: _, ...row } = stored[0]!;
  const there = { ...row, id: newId("rec"), importId: null, projectId: second.id, deviceId: null };
  await prisma.recording.create({ data: there });
  const limited = cloud.withToken(await cloud.addKey(["recordings.list"], [second.id]));
  for (const sortBy of ["createdAt", "deviceName", "importedAt", "path"] as const)
    assert.deepEqual(ids(await limited.call(api.recordings.list, { sortBy })), [there.id], sortBy);
  assert.deepEqual(ids(await list({ projectId: second.id })), [there.id]);
  assert.equal((await list({ projectId })).length, stored.length);
  assert.equal((await list()).length, stored.length + 1);
  const isNotFound = refusedWith(404);
  await assert.rejects(limited.call(api.recordings.list, { projectId }), isNotFound);
  await assert.rejects(limited.call(api.recordings.list, { deviceId: devices[0]!.id }), isNotFound);
  await prisma.recording.delete({ where: { id: there.id } });
});

test("the oldest of all and of a device take one statement, and a larger limit or another order gives the same ones", async (t) => {
  for (const query of [{}, { deviceId: devices[0]!.id }]) {
    const all = await list({ ...query, limit: 2000 });
    const asked = t.mock.method(cloud.deps.db.pool, "query");
    const found = await list({ ...query, limit: 3 });
    const texts = asked.mock.calls.map(({ arguments: [given] }) => (given as unknown as { text: string }).text);
    asked.mock.restore();
    assert.equal(texts.filter((text) => !text.includes("Credential")).length, 1);
    assert.deepEqual(found, all.slice(0, 3));
    for (const more of [{ limit: 64 }, { limit: 3, offset: 0, sortBy: "createdAt" as const }])
      assert.deepEqual(await list({ ...query, ...more }), all.slice(0, more.limit), JSON.stringify(more));
  }
  const code = await list({ deviceId: "dev_none", limit: 3 }).catch((error: ApiCallError) => error.code);
  assert.equal(code, "NotFound");
});

test("the oldest with metadata too large to be read at once are listed like others", async () => {
  const [first] = await list({ limit: 1 });
  const metadata = [{ name: "large", metadata: { noise: randomBytes(20_000).toString("base64") } }];
  await prisma.recording.update({ where: { id: first!.id }, data: { metadata } });
  const [large, ...others] = await list({ limit: 3 });
  await prisma.recording.update({ where: { id: first!.id }, data: { metadata: first!.metadata } });
  assert.deepEqual(large, { ...first, metadata });
  assert.equal(others.length, 2);
});
