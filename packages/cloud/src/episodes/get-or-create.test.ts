import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { ApiCallError } from "@downlink/client";
import { api, type CallInput } from "@downlink/protocol";
import { startCloud } from "../testing/start-cloud.ts";
import { recordingItem, startAgent, type TestAgent } from "../testing/test-agent.ts";

const cloud = await startCloud({ after }, { works: false });
const { admin } = cloud;
const { prisma } = cloud.deps.db;
const robot = await startAgent(cloud, "robot");
const { projectId } = await admin.call(api.devices.get, { nameOrId: "robot" });

type Item = CallInput<typeof api.episodes.getOrCreate>["episodes"][number];

const ask = async (...episodes: (Partial<Item> & object)[]) =>
  (await admin.call(api.episodes.getOrCreate, { projectId, episodes: episodes as Item[] })).episodes;
const askOne = async (item: Partial<Item>) => (await ask(item))[0]!;
const get = (id: string) => admin.call(api.episodes.get, { id, include: ["recordings"] });
const membersOf = async (id: string) => (await get(id)).recordings!.map((member) => member.id);
const refusedWith =
  (code: string, text: string | RegExp = "") =>
  (error: ApiCallError) =>
    error.code === code && (typeof text === "string" ? error.message.includes(text) : text.test(error.message));

const SECOND = 1_000_000_000n;
let passedNs = 1_000_000n * SECOND;

/** A time past all that other tests have recorded. */
function later(byNs: bigint): bigint {
  passedNs += byNs;
  return passedNs;
}

interface Recorded {
  readonly agent?: TestAgent;
  readonly isImported?: boolean;
}

/** New recordings of 10 s, one after another, by start. */
async function record(count: number, { agent = robot, isImported = true }: Recorded = {}) {
  const items = Array.from({ length: count }, () => recordingItem({ start: later(20n * SECOND) }));
  await agent.report(items);
  const where = { path: { in: items.map(({ path }) => path) } };
  if (isImported) await prisma.recording.updateMany({ where, data: { importStatus: "complete" } });
  return prisma.recording.findMany({ where, orderBy: { startNs: "asc" } });
}

const recordOne = async (recorded?: Recorded) => (await record(1, recorded))[0]!;
const mark = (start: bigint, end: bigint, deviceId = robot.deviceId) =>
  admin.call(api.events.create, { deviceId, start, end });

test("an episode without times spans its recordings, and holds what they were when it was made", async () => {
  const [first, second] = await record(2);
  const { id, created } = await askOne({ recordings: [second!.id, first!.id], metadata: { task: "pick", tries: [1] } });
  assert.ok(created);
  assert.match(id, /^ep_/);
  await prisma.recording.update({ where: { id: first!.id }, data: { path: "moved", endNs: first!.endNs + 1n } });
  const member = ({ id, path, startNs, endNs, deviceId }: typeof first & object) => ({
    ...{ id, path, start: startNs, end: endNs, deviceId, available: true, resolvable: true },
  });
  const { createdAt, creatorApiKeyId, ...episode } = await get(id);
  assert.deepEqual(episode, {
    id,
    projectId,
    startTime: first!.startNs,
    endTime: second!.endNs,
    metadata: { task: "pick", tries: [1] },
    recordings: [member(first!), member(second!)],
    hasMissingRecordings: false,
    creationContext: null,
    creatorOrgMemberId: null,
  });
  assert.match(creatorApiKeyId!, /^key_/);
  assert.ok(createdAt > 0n);
});

test("a given range is taken as it is, to the nanosecond, whether recordings touch it or not", async () => {
  const { id: recordingId, startNs } = await recordOne();
  for (const [startTime, endTime] of [
    [startNs + 1n, startNs + 3n],
    [startNs + 1n, startNs + 1n],
    [-5n, 7n],
  ] as const) {
    const { id } = await askOne({ recordings: [recordingId], startTime, endTime });
    const episode = await get(id);
    assert.deepEqual([episode.startTime, episode.endTime], [startTime, endTime]);
  }
});

test("an existing episode is returned when its time range and member recordings match exactly, and keeps its metadata", async () => {
  const ids = (await record(3)).map(({ id }) => id);
  const first = await askOne({ recordings: ids, metadata: { take: 1 }, creationContext: { version: 1 } });
  const [a, b, c] = ids as [string, string, string];
  const again = await askOne({ recordings: [c, a, b, a], metadata: { take: 2 }, creationContext: { version: 2 } });
  assert.deepEqual(again, { id: first.id, created: false });
  const { startTime, endTime, metadata, creationContext } = await get(first.id);
  assert.deepEqual([metadata, creationContext], [{ take: 1 }, { version: 1 }]);
  assert.deepEqual(await askOne({ recordings: ids, startTime, endTime }), again);
  for (const other of [
    { recordings: [a, b] },
    { recordings: ids, startTime, endTime: endTime - 1n },
    { recordings: ids, startTime: startTime + 1n, endTime },
  ])
    assert.ok((await askOne(other)).created);
});

test("the same episode twice in one request is one, `created` once, in the order of the request", async () => {
  const [one, two] = (await record(2)).map(({ id }) => id) as [string, string];
  const before = await askOne({ recordings: [one] });
  const answered = await ask(
    { recordings: [two], metadata: { take: 1 } },
    { recordings: [one] },
    { recordings: [two, two], metadata: { take: 2 } },
    { recordings: [one, two] },
  );
  assert.deepEqual(
    answered.map(({ created }) => created),
    [true, false, false, true],
  );
  assert.deepEqual([answered[1]!.id, answered[2]!.id], [before.id, answered[0]!.id]);
  assert.deepEqual((await get(answered[0]!.id)).metadata, { take: 1 });
});

test("the same episodes, asked for at once in any order, are created once each", async () => {
  const ids = (await record(40)).map(({ id }) => id);
  const items = ids.map((id, at) => ({ recordings: [id, ids[(at + 1) % ids.length]!] }));
  const orders = [items, [...items].reverse(), items.slice(20).concat(items.slice(0, 20))];
  const answers = await Promise.all([...orders, ...orders, ...orders].map((order) => ask(...order)));
  const created = answers.flat().filter((one) => one.created);
  assert.equal(created.length, items.length);
  const known = new Set(created.map(({ id }) => id));
  assert.equal(known.size, items.length);
  assert.ok(answers.flat().every(({ id }) => known.has(id)));
  for (const { id } of created) assert.equal((await membersOf(id)).length, 2);
});

test("with eventId, the event's range and the imported recordings of its device that touch it are taken", async () => {
  const agent = await startAgent(cloud, "marked");
  const [before, first, second, after] = await record(4, { agent });
  const edge = await recordOne({ agent, isImported: false });
  await record(1);
  const event = await mark(first!.endNs, second!.startNs, agent.deviceId);
  const { id } = await askOne({ eventId: event.id, metadata: { from: "event" } });
  const episode = await get(id);
  assert.deepEqual([episode.startTime, episode.endTime, episode.metadata], [event.start, event.end, { from: "event" }]);
  assert.deepEqual(
    episode.recordings!.map((member) => member.id),
    [first!.id, second!.id],
  );
  const whole = await mark(before!.startNs, edge.endNs, agent.deviceId);
  const all = await askOne({ eventId: whole.id });
  assert.deepEqual(await membersOf(all.id), [before!.id, first!.id, second!.id, after!.id]);
});

test("an episode of an event names it in its creationContext, unless the caller sends one, or null", async () => {
  const { startNs, endNs } = await recordOne();
  const contextOf = async (offsetNs: bigint, item: Partial<Item>) => {
    const { id: eventId } = await mark(startNs + offsetNs, endNs);
    return [(await get((await askOne({ ...item, eventId })).id)).creationContext, eventId];
  };
  const [shown, eventId] = await contextOf(1n, {});
  assert.deepEqual(shown, {
    version: 1,
    basis: { kind: "events", eventIds: [eventId], deviceId: robot.deviceId },
  });
  assert.deepEqual((await contextOf(2n, { creationContext: { mine: true } }))[0], { mine: true });
  assert.equal((await contextOf(3n, { creationContext: null }))[0], null);
});

test("later event edits and imports do not change existing episodes", async () => {
  const { id, startNs, endNs } = await recordOne();
  const event = await mark(startNs, endNs);
  const first = await askOne({ eventId: event.id });
  const asMade = await get(first.id);
  const late = recordingItem({ start: startNs + SECOND });
  await robot.report([late]);
  await prisma.recording.updateMany({ where: { path: late.path }, data: { importStatus: "complete" } });
  await admin.call(api.events.update, { id: event.id, start: startNs - 5n });
  const second = await askOne({ eventId: event.id });
  assert.ok(second.created);
  assert.equal((await membersOf(second.id)).length, 2);
  assert.deepEqual(await get(first.id), asMade);
  await admin.call(api.events.delete, { id: event.id });
  assert.deepEqual(await get(first.id), asMade);
  assert.deepEqual(await askOne({ recordings: [id], startTime: startNs, endTime: endNs }), {
    id: first.id,
    created: false,
  });
});

test("event windows must span distinct millisecond timestamps; with recordings and times the same window may be had", async () => {
  const { id, startNs } = await recordOne();
  const msNs = (startNs / 1_000_000n) * 1_000_000n;
  const cases = [
    [msNs, msNs, 400],
    [msNs, msNs + 999_999n, 400],
    [msNs + 999_999n, msNs + 1_000_000n, 200],
    [-1n, 0n, 404], // in two milliseconds, but without a recording
    [-1_000_000n, -1n, 400],
  ] as const;
  for (const [start, end, status] of cases) {
    const event = await mark(start, end);
    const asked = askOne({ eventId: event.id });
    if (status === 200) assert.ok((await asked).created);
    else await assert.rejects(asked, refusedWith("InvalidRequest", status === 400 ? /one millisecond/ : /has none/));
  }
  assert.ok((await askOne({ recordings: [id], startTime: msNs, endTime: msNs })).created);
});

test("an event without an imported recording in its range is 400, which names each such item, and nothing is written", async () => {
  const edge = await recordOne({ isImported: false });
  const imported = await recordOne();
  const [bare, good, far] = await Promise.all([
    mark(edge.startNs, edge.endNs),
    mark(imported.startNs, imported.endNs),
    mark(1n, SECOND),
  ]);
  const count = await prisma.episode.count();
  const failure = await ask({ eventId: good.id }, { eventId: bare.id }, { eventId: far.id }).then(
    () => assert.fail("it was accepted"),
    (error: ApiCallError) => error,
  );
  assert.equal(failure.code, "InvalidRequest");
  assert.deepEqual(
    failure.details!.map(({ path }) => path),
    ["episodes.1.eventId", "episodes.2.eventId"],
  );
  assert.ok(failure.message.includes(bare.id));
  assert.equal(await prisma.episode.count(), count);
});

test("all distinct event inputs of a request may resolve 10,000 recordings, not one more; an event asked for twice counts once", async () => {
  const agent = await startAgent(cloud, "busy");
  const start = later(1_000_000n * SECOND);
  const { id } = await recordOne({ agent });
  await prisma.$executeRaw`
    INSERT INTO "Recording" SELECT (jsonb_populate_record(r, jsonb_build_object(
      'id', 'rec_busy_' || i, 'startNs', ${start}::bigint + i, 'endNs', ${start + 10n * SECOND}::bigint))).*
    FROM "Recording" r, generate_series(1, 5000) i WHERE r.id = ${id}`;
  const events = [];
  for (const at of [1n, 2n, 3n]) events.push(await mark(start + 5n * SECOND, start + 6n * SECOND + at, agent.deviceId));
  const [one, two, three] = events.map(({ id }) => ({ eventId: id })) as [Item, Item, Item];
  assert.equal((await ask(one, two, one, two)).filter(({ created }) => created).length, 2);
  await assert.rejects(ask(one, two, three), refusedWith("InvalidRequest", "10000 recordings"));
});

test("an unknown recording or event, or one of another project or organization, is 404, and nothing is written", async () => {
  const { id, startNs, endNs } = await recordOne();
  const other = await cloud.otherOrganization();
  const theirs = await startAgent({ ...cloud, admin: other }, "theirs");
  const theirRecording = await recordOne({ agent: theirs });
  const theirEvent = await other.call(api.events.create, {
    deviceId: theirs.deviceId,
    start: theirRecording.startNs,
    end: theirRecording.endNs,
  });
  const second = await admin.call(api.projects.create, { name: "second" });
  const device = await admin.call(api.devices.create, { name: "elsewhere", projectId: second.id });
  const event = await mark(startNs, endNs, device.id);
  const good = { recordings: [id] };
  const count = await prisma.episode.count();
  for (const item of [
    { recordings: [id, "rec_unknown"] },
    { recordings: [theirRecording.id] },
    { eventId: "evt_unknown" },
    { eventId: theirEvent.id },
    { eventId: event.id },
  ]) {
    const named = item.eventId ?? item.recordings!.at(-1)!;
    await assert.rejects(ask(good, item), refusedWith("NotFound", named));
  }
  for (const projectId of [second.id, theirRecording.projectId, "prj_unknown"])
    await assert.rejects(
      admin.call(api.episodes.getOrCreate, { projectId, episodes: [good] }),
      (error: ApiCallError) => error.status === 404,
    );
  assert.equal(await prisma.episode.count(), count);
});

async function send(body: unknown) {
  const response = await fetch(`${cloud.url}/v1/episodes`, {
    method: "POST",
    headers: { authorization: `Bearer ${cloud.adminKey}`, "content-type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as { details?: { path: string }[]; code?: string } };
}

test("each fault of an item is 400 and names its place", async () => {
  const { id } = await recordOne();
  const [start, end] = ["2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z"];
  const deep = `${'{"a":'.repeat(40)}1${"}".repeat(40)}`;
  const faults: [item: string | object, path: string][] = [
    [{}, "recordings"],
    [{ recordings: [] }, "recordings"],
    [{ recordings: [], startTime: start, endTime: end }, "recordings"],
    [{ startTime: start, endTime: end }, "recordings"],
    [{ recordings: [""] }, "recordings.0"],
    [{ recordings: [id], startTime: start }, "endTime"],
    [{ recordings: [id], endTime: end }, "startTime"],
    [{ recordings: [id], startTime: end, endTime: start }, "endTime"],
    [{ recordings: [id], startTime: "now", endTime: end }, "startTime"],
    [{ eventId: "evt_1", recordings: [id] }, "eventId"],
    [{ eventId: "evt_1", startTime: start, endTime: end }, "eventId"],
    [{ recordings: [id], metadata: [] }, "metadata"],
    [{ recordings: [id], metadata: { note: "a\0b" } }, "metadata"],
    [{ recordings: [id], metadata: { nested: [{ "\ud800": 1 }] } }, "metadata"],
    [{ recordings: [id], metadata: { note: "x".repeat(65_536) } }, "metadata"],
    [{ recordings: [id], creationContext: "events" }, "creationContext"],
    [`{"recordings":["${id}"],"metadata":${deep}}`, "metadata"],
    [`{"recordings":["${id}"],"creationContext":${deep}}`, "creationContext"],
    [`{"recordings":["${id}"],"metadata":{"a":1e400}}`, "metadata"],
  ];
  for (const [item, path] of faults) {
    const json = typeof item === "string" ? item : JSON.stringify(item);
    const { status, body } = await send(`{"projectId":"${projectId}","episodes":[${json}]}`);
    assert.equal(status, 400, json.slice(0, 200));
    assert.equal(body.details?.[0]?.path, `episodes.0.${path}`, json.slice(0, 200));
  }
});

test("projectId and 1 to 2000 items are required", async () => {
  const { id } = await recordOne();
  const item = { recordings: [id] };
  for (const body of [
    { episodes: [item] },
    { projectId: "", episodes: [item] },
    { projectId },
    { projectId, episodes: [] },
    { projectId, episodes: new Array(2001).fill(item) },
  ])
    assert.equal((await send(body)).status, 400);
  const { episodes } = (await send({ projectId, episodes: new Array(2000).fill(item) })).body as {
    episodes?: { created: boolean }[];
  };
  assert.deepEqual([episodes!.length, episodes!.filter(({ created }) => created).length], [2000, 1]);
});

test("creationContext is returned as it was sent, whatever it holds; metadata with the same values", async () => {
  const { id } = await recordOne();
  const values = { z: null, a: [], nested: { "": {}, ä: ["🤖", -0.5e-7, true] }, 10: "ten", 9: "nine" };
  const creationContext = { ...values, nul: "a\0b", half: "\ud800", derivedFromEpisodeId: null };
  const { id: episodeId } = await askOne({ recordings: [id], metadata: values, creationContext });
  const response = await fetch(`${cloud.url}/v1/episodes/${episodeId}`, {
    headers: { authorization: `Bearer ${cloud.adminKey}` },
  });
  const text = await response.text();
  assert.ok(text.includes(`"creationContext":${JSON.stringify(creationContext)}`));
  assert.deepEqual((JSON.parse(text) as { metadata: unknown }).metadata, JSON.parse(JSON.stringify(values)));
});

test("a recording that nobody imported yet may be in an episode, which is then missing it", async () => {
  const { id } = await recordOne({ isImported: false });
  const episode = await get((await askOne({ recordings: [id] })).id);
  assert.deepEqual(
    [episode.hasMissingRecordings, episode.recordings![0]!.available, episode.recordings![0]!.resolvable],
    [true, false, true],
  );
});

test("a key that is limited to other projects gets 404; one limited to this project makes its episodes", async () => {
  const { id } = await recordOne();
  const elsewhere = await admin.call(api.projects.create, { name: "elsewhere" });
  const capabilities = ["episodes.create", "episodes.list", "episodes.delete"] as const;
  const [inside, outside] = await Promise.all([
    cloud.addKey(capabilities, [projectId]),
    cloud.addKey(capabilities, [elsewhere.id]),
  ]);
  const asked = { projectId, episodes: [{ recordings: [id] }] };
  const isNotFound = (error: ApiCallError) => error.status === 404;
  await assert.rejects(cloud.withToken(outside).call(api.episodes.getOrCreate, asked), isNotFound);
  const [episode] = (await cloud.withToken(inside).call(api.episodes.getOrCreate, asked)).episodes;
  for (const operation of [api.episodes.get, api.episodes.delete])
    await assert.rejects(cloud.withToken(outside).call(operation, { id: episode!.id }), isNotFound);
  const { creatorApiKeyId } = await cloud.withToken(inside).call(api.episodes.get, { id: episode!.id });
  const row = await prisma.apiKey.findUniqueOrThrow({ where: { id: creatorApiKeyId! } });
  assert.deepEqual(row.projectIds, [projectId]);
});
