import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api } from "@downlink/protocol";
import { slowTest } from "@downlink/recordings/testing";
import { refusedWith } from "../../testing/refused-with.ts";
import { startAgent } from "../../testing/test-agent.ts";
import { startEpisodes } from "./testing/start-episodes.ts";

const { cloud, admin, prisma, projectId, ask, askOne, get, membersOf, record, recordOne, mark } = await startEpisodes({
  after,
});

test("an episode without times spans its recordings as they are when it is created", async () => {
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

test("a given range is stored as it is, to the nanosecond, whether recordings touch it or not", async () => {
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

test("the same episode twice in one request is one episode, `created` once, in the order of the request", async () => {
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

slowTest("the same episodes, requested at the same moment in any order, are created once each", async () => {
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
    await assert.rejects(admin.call(api.episodes.getOrCreate, { projectId, episodes: [good] }), refusedWith(404));
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

test("each error of an item is a 400 that names its place", async () => {
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

test("creationContext is returned exactly as it was sent, and metadata with the same values", async () => {
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

test("a recording that nobody has imported yet may be in an episode, which then misses it", async () => {
  const { id } = await recordOne({ isImported: false });
  const episode = await get((await askOne({ recordings: [id] })).id);
  assert.deepEqual(
    [episode.hasMissingRecordings, episode.recordings![0]!.available, episode.recordings![0]!.resolvable],
    [true, false, true],
  );
});

test("a key that is limited to other projects gets 404; one limited to this project creates its episodes", async () => {
  const { id } = await recordOne();
  const elsewhere = await admin.call(api.projects.create, { name: "elsewhere" });
  const capabilities = ["episodes.create", "episodes.list", "episodes.delete"] as const;
  const [inside, outside] = await Promise.all([
    cloud.addKey(capabilities, [projectId]),
    cloud.addKey(capabilities, [elsewhere.id]),
  ]);
  const asked = { projectId, episodes: [{ recordings: [id] }] };
  const isNotFound = refusedWith(404);
  await assert.rejects(cloud.withToken(outside).call(api.episodes.getOrCreate, asked), isNotFound);
  const [episode] = (await cloud.withToken(inside).call(api.episodes.getOrCreate, asked)).episodes;
  for (const operation of [api.episodes.get, api.episodes.delete])
    await assert.rejects(cloud.withToken(outside).call(operation, { id: episode!.id }), isNotFound);
  const { creatorApiKeyId } = await cloud.withToken(inside).call(api.episodes.get, { id: episode!.id });
  const row = await prisma.apiKey.findUniqueOrThrow({ where: { id: creatorApiKeyId! } });
  assert.deepEqual(row.projectIds, [projectId]);
});
