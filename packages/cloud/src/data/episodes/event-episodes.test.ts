import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { ApiCallError } from "@downlink/client";
import { api } from "@downlink/protocol";
import { slowTest } from "@downlink/recordings/testing";
import { refusedWith } from "../../testing/refused-with.ts";
import { recordingItem, startAgent } from "../../testing/test-agent.ts";
import { type EpisodeItem, SECOND, startEpisodes } from "./testing/start-episodes.ts";

const { cloud, admin, prisma, robot, ask, askOne, get, membersOf, later, record, recordOne, mark } =
  await startEpisodes({ after });

test("with eventId an episode takes the event's range and the imported recordings of its device that touch it", async () => {
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
  const contextOf = async (offsetNs: bigint, item: Partial<EpisodeItem>) => {
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

test("event windows must span distinct millisecond timestamps; with recordings and times the same window is accepted", async () => {
  const { id, startNs } = await recordOne();
  const msNs = (startNs / 1_000_000n) * 1_000_000n;
  const cases = [
    [msNs, msNs, 400],
    [msNs, msNs + 999_999n, 400],
    [msNs + 999_999n, msNs + 1_000_000n, 200],
    [-1n, 0n, 404], // two distinct milliseconds, but no recording
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

slowTest(
  "all distinct event inputs of a request may resolve to 10,000 recordings and no more; an event that is repeated counts once",
  async () => {
    const agent = await startAgent(cloud, "busy");
    const start = later(1_000_000n * SECOND);
    const { id } = await recordOne({ agent });
    await prisma.$executeRaw`
    INSERT INTO "Recording" SELECT (jsonb_populate_record(r, jsonb_build_object(
      'id', 'rec_busy_' || i, 'startNs', ${start}::bigint + i, 'endNs', ${start + 10n * SECOND}::bigint))).*
    FROM "Recording" r, generate_series(1, 5000) i WHERE r.id = ${id}`;
    const events = [];
    for (const at of [1n, 2n, 3n])
      events.push(await mark(start + 5n * SECOND, start + 6n * SECOND + at, agent.deviceId));
    const [one, two, three] = events.map(({ id }) => ({ eventId: id })) as [EpisodeItem, EpisodeItem, EpisodeItem];
    assert.equal((await ask(one, two, one, two)).filter(({ created }) => created).length, 2);
    await assert.rejects(ask(one, two, three), refusedWith("InvalidRequest", "10000 recordings"));
  },
);
