import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { after, beforeEach, test } from "node:test";
import type { Client } from "@downlink/client";
import { api, ErrorBody, MAX_FILE_VIEWS, MAX_VIEW_BYTES } from "@downlink/protocol";
import { eventually, makeBag, makeMcap, readIndexedMessages, readMessages } from "@downlink/recordings/testing";
import { setQuotas } from "../../calls/quotas/set-quotas.ts";
import { newId } from "../../db/ids.ts";
import { Browser } from "../../organization/sign-in/testing/browser.ts";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { sha256 } from "../../testing/test-agent.ts";
import { createRunningClock } from "../../testing/test-clock.ts";
import { uploadFile } from "../../testing/upload-file.ts";

const START = 1_760_000_000_000_000_000n;
const GIB = 1024n ** 3n;
const VIEWER = "https://viewer.example";
const clock = createRunningClock();
const viewers = [
  { name: "Lichtblick", url: `${VIEWER}/?ds=remote-file&ds.url={link}` },
  { name: "Rerun", url: "http://localhost:9/rerun/?url={link}", as: "stream" },
];
const cloud = await startCloud({ after }, { clock, environment: { DOWNLINK_VIEWERS: JSON.stringify(viewers) } });
const { admin, deps } = cloud;
const { prisma } = deps.db;
const whole = Buffer.from(await makeMcap({ startNs: START, durationSeconds: 4 }));
const { recordingId } = await uploadFile(cloud, whole, { filename: "a.mcap", deviceName: "robot" });
const by = { recordingId: recordingId! };
const part = { ...by, topics: ["/imu"], end: START + 1_000_000_000n };
type More = Partial<Parameters<typeof create>[1]>;

beforeEach(() => prisma.viewLink.deleteMany());

function create(client: Client, more: { topics?: string[]; end?: bigint; lifeSeconds?: number; recordingId?: string }) {
  return client.call(api.viewLinks.create, { ...by, as: "file", ...more });
}

/** Waits until the file is made, or until it is known why not. */
async function prepared(more: More = {}, client: Client = admin) {
  const made = await create(client, more);
  const view = await eventually(
    () => client.call(api.viewLinks.get, { id: made.id }),
    ({ state }) => state !== "preparing",
  );
  return { ...made, ...view };
}

async function read(link: string, headers: Record<string, string> = {}) {
  const response = await fetch(link, { headers });
  return { response, bytes: Buffer.from(await response.arrayBuffer()) };
}

async function codeOf(link: string): Promise<[number, string]> {
  const { response, bytes } = await read(link);
  return [response.status, ErrorBody.parse(JSON.parse(bytes.toString())).code];
}

const jobsDone = () =>
  eventually(
    () => prisma.$queryRaw<object[]>`SELECT 1 FROM pgboss.job WHERE name = 'prepare-view' AND state < 'completed'`,
    ({ length }) => length === 0,
  );

/** The keys of copies that a job will remove, or has removed. */
const keysToRemove = () =>
  prisma.$queryRaw<
    { key: string }[]
  >`SELECT data ->> 'blobKey' AS key FROM pgboss.job WHERE name LIKE 'remove-object%'`;

const keyOf = (id: string) => prisma.viewLink.findUniqueOrThrow({ where: { id } }).then(({ blobKey }) => blobKey!);

test("a part of a recording becomes a file with the messages of the export, which is read by any range", async () => {
  const { link, state, size, fileName, contentSha256 } = await prepared(part);
  assert.equal(state, "ready");
  assert.ok(new URL(link).pathname.endsWith(`/${fileName}`) && fileName.endsWith(".mcap"));
  const { response, bytes } = await read(link);
  assert.deepEqual([bytes.length, response.headers.get("etag")], [size, `"${sha256(bytes)}"`]);
  assert.equal(contentSha256, sha256(bytes));
  const wanted = readMessages(whole).filter(({ topic, logTimeNs }) => topic === "/imu" && logTimeNs <= part.end);
  assert.ok(wanted.length > 0);
  assert.deepEqual((await readIndexedMessages(bytes)).length, wanted.length);
  for (let time = 0; time < 200; time++) {
    const start = randomInt(bytes.length);
    const end = randomInt(start, bytes.length);
    const range = await read(link, { range: `bytes=${start}-${end}` });
    assert.deepEqual(
      [range.response.status, range.response.headers.get("content-range")],
      [206, `bytes ${start}-${Math.min(end, bytes.length - 1)}/${bytes.length}`],
    );
    assert.ok(bytes.subarray(start, end + 1).equals(range.bytes));
  }
  assert.equal((await read(link, { range: `bytes=${bytes.length}-` })).response.status, 416);
});

test("an undamaged MCAP that is wanted whole is served as it is, and a copy is made of one without an index", async () => {
  const asItIs = await prepared();
  assert.ok(whole.equals((await read(asItIs.link)).bytes));
  assert.equal((await prisma.viewLink.findUniqueOrThrow({ where: { id: asItIs.id } })).isCopy, false);
  await admin.call(api.viewLinks.delete, { id: asItIs.id });
  assert.equal((await fetch((await prepared()).link)).status, 200, "the recording's own object stays");
  const unindexed = await makeMcap({ startNs: START, durationSeconds: 1, isChunked: false });
  const { recordingId: other } = await uploadFile(cloud, unindexed, { filename: "u.mcap", deviceName: "robot" });
  const copy = await prepared({ recordingId: other! });
  const { bytes } = await read(copy.link);
  assert.ok(!Buffer.from(unindexed).equals(bytes));
  assert.equal((await readIndexedMessages(bytes)).length, readMessages(unindexed).length);
});

test("a bag becomes an MCAP that viewers read", async () => {
  const { recordingId: bag } = await uploadFile(cloud, await makeBag({ startNs: START }), {
    filename: "a.bag",
    deviceName: "robot",
  });
  const { bytes } = await read((await prepared({ recordingId: bag! })).link);
  assert.ok((await readIndexedMessages(bytes)).length > 0);
});

test("a link is 503 until its file is prepared, and says why it cannot be", async () => {
  const { id, link } = await prepared(part);
  await prisma.viewLink.update({ where: { id }, data: { state: "preparing" } });
  const { response } = await read(link);
  assert.deepEqual([response.status, response.headers.get("retry-after")], [503, "2"]);
  const bytes = await makeMcap({ durationSeconds: 1, seed: 7 });
  const { recordingId: other } = await uploadFile(cloud, bytes, { filename: "d.mcap", deviceName: "robot" });
  await prisma.recording.update({ where: { id: other! }, data: { sizeBytes: bytes.length + 1 } });
  const failed = await prepared({ recordingId: other!, topics: ["/imu"] });
  assert.equal(failed.state, "failed");
  assert.match(failed.failure!, /are not what was imported; the operator has to look/);
  assert.deepEqual(await codeOf(failed.link), [409, "Conflict"]);
});

test("only pages of a named viewer read the file, and learn its size and ranges", async () => {
  const { link } = await prepared(part);
  for (const [origin, allowed] of [
    [VIEWER, VIEWER],
    ["http://localhost:9", "http://localhost:9"],
    ["https://elsewhere.example", null],
  ] as const) {
    const preflight = await fetch(link, {
      method: "OPTIONS",
      headers: { origin, "access-control-request-method": "GET" },
    });
    const { response } = await read(link, { origin, range: "bytes=0-0" });
    for (const { headers } of [preflight, response]) assert.equal(headers.get("access-control-allow-origin"), allowed);
    const exposed = response.headers.get("access-control-expose-headers") ?? "";
    for (const name of ["accept-ranges", "content-range", "content-length", "etag"])
      assert.ok(exposed.includes(name), name);
  }
});

test("an answer has the addresses of the viewers that read this form, with the link in them", async () => {
  const { link, viewers: file } = await create(admin, part);
  assert.deepEqual(file, [{ name: "Lichtblick", url: `${VIEWER}/?ds=remote-file&ds.url=${encodeURIComponent(link)}` }]);
  assert.equal(new URL(file[0]!.url).searchParams.get("ds.url"), link);
  const { viewers: stream } = await admin.call(api.viewLinks.create, by);
  assert.deepEqual(
    stream.map(({ name }) => name),
    ["Rerun"],
  );
  assert.deepEqual(await admin.call(api.viewLinks.listViewers, {}), [
    { name: "Lichtblick", origin: VIEWER, as: "file" },
    { name: "Rerun", origin: "http://localhost:9", as: "stream" },
  ]);
});

test("the copy goes with its link: when that is deleted, and some time after it has expired", async () => {
  const deleted = await prepared(part);
  const blobKey = await keyOf(deleted.id);
  assert.ok(await deps.blobs.stat(blobKey));
  await admin.call(api.viewLinks.delete, { id: deleted.id });
  assert.deepEqual(await codeOf(deleted.link), [403, "LinkExpired"]);
  await eventually(
    () => deps.blobs.stat(blobKey),
    (found) => found === undefined,
  );
  const lasting = await prepared({ ...part, lifeSeconds: 60 });
  const waiting = await prisma.$queryRaw<{ data: { blobKey: string } }[]>`
    SELECT data FROM pgboss.job WHERE name LIKE 'remove-object%' AND start_after > now() + interval '10 minutes'`;
  assert.ok(waiting.some(({ data }) => data.blobKey.includes("/view_")));
  clock.aheadNs += 61_000_000_000n;
  assert.deepEqual(await codeOf(lasting.link), [403, "LinkExpired"]);
});

test("a link that is deleted while its file is made leaves no file", async () => {
  const { orgId } = await prisma.recording.findUniqueOrThrow({ where: { id: recordingId! } });
  for (let time = 0; time < 5; time++) await admin.call(api.viewLinks.delete, { id: (await create(admin, part)).id });
  await jobsDone();
  const left = () => Array.fromAsync(deps.blobs.list(`${orgId}/view_`));
  const waiting = new Set((await keysToRemove()).map(({ key }) => key));
  for (const { key } of await left()) assert.ok(waiting.has(key), `nothing removes ${key}`);
});

test("where all copies are too large together, the one that was not read for longest goes, and no other", async () => {
  const [expired, longUnread, fresh] = [await prepared(part), await prepared(part), await prepared(part)];
  const change = (id: string, data: object) => prisma.viewLink.update({ where: { id }, data });
  const nowNs = clock.nowNs();
  await change(expired.id, { sizeBytes: 90n * GIB, lastReadAtNs: 1n, expiresAtNs: nowNs - 1n });
  await change(longUnread.id, { sizeBytes: 60n * GIB, lastReadAtNs: nowNs - 60_000_000_000n });
  await change(fresh.id, { sizeBytes: 60n * GIB });
  const made = await prepared(part);
  assert.equal(made.state, "ready");
  await eventually(
    () => prisma.viewLink.count({ where: { id: longUnread.id } }),
    (count) => count === 0,
  );
  assert.deepEqual(await codeOf(longUnread.link), [403, "LinkExpired"]);
  for (const { link } of [fresh, made]) assert.equal((await read(link)).response.status, 200);
});

test("an organization keeps its share of the room, whatever others make, and loses first what lies beyond its share", async () => {
  const other = await cloud.otherOrganization();
  const upload = await uploadFile({ ...cloud, admin: other }, whole, { filename: "b.mcap", deviceName: "robot" });
  const ofOther = () => prepared({ ...part, recordingId: upload.recordingId! }, other);
  const nowNs = clock.nowNs();
  const change = ({ id }: { id: string }, sizeGib: bigint, readAgoNs: bigint) =>
    prisma.viewLink.update({ where: { id }, data: { sizeBytes: sizeGib * GIB, lastReadAtNs: nowNs - readAgoNs } });
  const [share, lastRead, earlier, earliest] = [
    await ofOther(),
    await prepared(part),
    await prepared(part),
    await prepared(part),
  ];
  await change(share, 45n, 9_000n); // no other was not read for so long
  await change(lastRead, 30n, 1_000n);
  await change(earlier, 21n, 2_000n);
  await change(earliest, 5n, 3_000n);
  const idsLeft = async () => (await prisma.viewLink.findMany({ select: { id: true } })).map(({ id }) => id);
  const made = await ofOther();
  await eventually(idsLeft, (ids) => !ids.includes(earliest.id));
  assert.deepEqual((await idsLeft()).sort(), [share.id, lastRead.id, earlier.id, made.id].sort());
  await change(earlier, 30n, 2_000n);
  await prepared(part);
  await eventually(idsLeft, (ids) => !ids.includes(earlier.id));
  for (const { link } of [share, lastRead, made]) assert.equal((await read(link)).response.status, 200);
});

test("an organization that may have no exports gets no file", async () => {
  const { orgId } = await prisma.recording.findUniqueOrThrow({ where: { id: recordingId! } });
  await setQuotas(deps, orgId, { maxExports: 0 });
  await assert.rejects(create(admin, part), refusedWith("QuotaReached"));
  await setQuotas(deps, orgId, { maxExports: null });
});

test("a file ends with the key that made it, also for a reader who looks around in it", async () => {
  const { id, token } = await admin.call(api.apiKeys.create, {
    name: "viewer",
    capabilities: ["viewLinks.create", "viewLinks.list"],
  });
  const { link } = await prepared(part, cloud.withToken(token!));
  assert.equal((await read(link, { range: "bytes=0-9" })).response.status, 206);
  await admin.call(api.apiKeys.update, { id, enabled: false });
  assert.deepEqual(await codeOf(link), [403, "LinkExpired"]);
});

test("another organization sees no file, and a key of another project neither", async () => {
  const { id } = await prepared(part);
  const { id: another } = await admin.call(api.projects.create, { name: "another" });
  const limited = cloud.withToken(await cloud.addKey(["viewLinks.create", "viewLinks.list"], [another]));
  for (const client of [await cloud.otherOrganization(), limited]) {
    await assert.rejects(client.call(api.viewLinks.get, { id }), refusedWith("NotFound"));
    await assert.rejects(create(client, part), refusedWith("NotFound"));
  }
});

test("a key has few files at one time, which last from a minute to twelve hours", async () => {
  const first = await create(admin, part);
  assert.equal(first.expiresAt, first.createdAt + 7_200_000_000_000n);
  const row = await prisma.viewLink.findUniqueOrThrow({ where: { id: first.id } });
  const failed = { ...row, id: newId("view"), state: "failed" as const };
  const copies = Array.from({ length: MAX_FILE_VIEWS - 1 }, () => ({
    ...row,
    id: newId("view"),
    state: "ready" as const,
  }));
  await prisma.viewLink.createMany({ data: [...copies.slice(1), failed] });
  await create(admin, part); // one that failed takes no place
  await assert.rejects(create(admin, part), refusedWith(409, /has 20 files for viewers/));
  await admin.call(api.viewLinks.create, by);
  await assert.rejects(create(admin, { lifeSeconds: 59 }), refusedWith(400, /from 60 to 43200 for a file/));
  await assert.rejects(
    admin.call(api.viewLinks.create, { ...by, lifeSeconds: 601 }),
    refusedWith(400, /from 1 to 600 for a stream/),
  );
});

test("a member with as many files as one may have gets another one, for which the least recently read one ends", async () => {
  const { link } = await admin.call(api.invitations.create, { email: "viewer@example.org", role: "user" });
  const browser = new Browser(cloud);
  await browser.accept(link!);
  const body = { ...by, topics: ["/imu"], as: "file" };
  const look = () => browser.ask({ method: "POST", path: api.viewLinks.create.path, body });
  const { id } = (await look()).json;
  await jobsDone();
  const row = await prisma.viewLink.findUniqueOrThrow({ where: { id: String(id) } });
  const copies = Array.from({ length: MAX_FILE_VIEWS - 1 }, (_, at) => {
    const own = { ...row, id: newId("view"), lastReadAtNs: row.lastReadAtNs! + BigInt(at) };
    return { ...own, blobKey: `${row.orgId}/${own.id}` };
  });
  const awaited = { ...copies[0]!, createdAtNs: 1n, lastReadAtNs: null };
  const [leastRead, ofKey] = [copies[5]!, { ...row, id: newId("view"), memberId: null, lastReadAtNs: 1n }];
  leastRead.lastReadAtNs = 2n;
  const { id: apiKeyId } = await prisma.apiKey.findFirstOrThrow();
  await prisma.viewLink.createMany({ data: [awaited, ...copies.slice(1), { ...ofKey, apiKeyId }] });
  const { status, json } = await look();
  assert.equal(status, 200);
  const left = (await prisma.viewLink.findMany({ select: { id: true } })).map((view) => view.id);
  const before = [row, awaited, ...copies.slice(1), ofKey].filter((view) => view !== leastRead);
  assert.deepEqual(left.sort(), [...before.map((view) => view.id), String(json.id)].sort());
  assert.ok((await keysToRemove()).some(({ key }) => key === leastRead.blobKey));
});

test("a selection that is surely too large is refused, and the refusal says how much of it would fit", async () => {
  const { sizeBytes } = await prisma.recording.findUniqueOrThrow({ where: { id: recordingId! } });
  await prisma.recording.update({ where: { id: recordingId! }, data: { sizeBytes: BigInt(MAX_VIEW_BYTES * 10) } });
  const wanted = { end: START + 3_900_000_000n };
  await assert.rejects(
    create(admin, wanted),
    refusedWith(400, /is about [\d.]+ GiB, and a file has 4 GiB at most: select some 1 s/),
  );
  await prisma.recording.update({ where: { id: recordingId! }, data: { sizeBytes } });
});

test("a job that ran twice, or after its link had ended, leaves no second file", async () => {
  const { id } = await prepared(part);
  const blobKey = await keyOf(id);
  const { orgId } = await prisma.viewLink.findUniqueOrThrow({ where: { id } });
  await prisma.$transaction((tx) => deps.jobs.enqueue(tx, { name: "prepare-view", data: { orgId, viewId: id } }));
  await prisma.$transaction((tx) =>
    deps.jobs.enqueue(tx, { name: "prepare-view", data: { orgId, viewId: newId("view") } }),
  );
  await jobsDone();
  assert.equal(await keyOf(id), blobKey);
});
