import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Client } from "@downlink/client";
import { api, type CallInput, type Episode, NEXT_CURSOR_HEADER, PREVIOUS_CURSOR_HEADER } from "@downlink/protocol";
import { propertyRuns, slowTest } from "@downlink/recordings/testing";
import fc from "fast-check";
import { matchTerms, type Searchable } from "../../calls/search/match-terms.ts";
import { parseQuery } from "../../calls/search/terms.ts";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { recordingItem, startAgent } from "../../testing/test-agent.ts";
import { createStoppedClock } from "../../testing/test-clock.ts";

const SECOND = 1_000_000_000n;
const START_NS = 1_760_000_000n * SECOND;
const time = createStoppedClock(START_NS);
const cloud = await startCloud({ after }, { works: false, clock: time });
const { admin } = cloud;
const { prisma } = cloud.deps.db;

type Query = CallInput<typeof api.episodes.list>;

/** The fields of an episode that lists can filter or sort by. */
interface Known {
  readonly id: string;
  readonly projectId: string;
  readonly startTime: bigint;
  readonly endTime: bigint;
  readonly createdAt: bigint;
  readonly metadata: Searchable;
  readonly recordingIds: readonly string[];
}

const robot = await startAgent(cloud, "robot");
const { projectId: firstProject } = await admin.call(api.devices.get, { nameOrId: "robot" });
const { id: secondProject } = await admin.call(api.projects.create, { name: "second" });
const [unused, ...recordingIds] = await record(13);
const missing = new Set(recordingIds.slice(9));
await prisma.recording.updateMany({
  where: { id: { notIn: [...missing] } },
  data: { importStatus: "complete" },
});
const known: Known[] = [];
for (let batch = 0; batch < 6; batch++) known.push(...(await createBatch(batch)));
await moveSome(secondProject);

/** Makes recordings of 10 s at the edge, and returns their ids. */
async function record(count: number): Promise<string[]> {
  await robot.report(Array.from({ length: count }, (_, i) => recordingItem({ start: START_NS + BigInt(i) * SECOND })));
  return (await prisma.recording.findMany({ orderBy: { startNs: "asc" } })).map(({ id }) => id);
}

/** Creates ten episodes at once with few different starts, so that ids must break ties. */
async function createBatch(batch: number): Promise<Known[]> {
  time.atNs += 5n * SECOND;
  const items = Array.from({ length: 10 }, (_, i) => {
    const number = batch * 10 + i;
    const startTime = START_NS + BigInt((number * 7) % 13) * SECOND;
    return {
      recordings: [recordingIds[number % 12]!, recordingIds[(number * 5) % 12]!],
      startTime,
      endTime: startTime + BigInt((number * 3) % 4) * SECOND + BigInt(number), // no two ends are equal
      metadata: { number, task: `task-${number % 3}`, isGood: number % 4 === 0, tags: [`t${number % 2}`, "all"] },
    };
  });
  const body = { projectId: firstProject, episodes: items };
  const { episodes } = await admin.call(api.episodes.getOrCreate, body);
  return items.map((item, at) => ({
    ...item,
    id: episodes[at]!.id,
    projectId: firstProject,
    createdAt: time.atNs,
    recordingIds: item.recordings,
  }));
}

/** Moves some episodes to another project, as only a test can. */
async function moveSome(projectId: string): Promise<void> {
  for (const [at, episode] of known.entries()) {
    if (at % 5 !== 0) continue;
    known[at] = { ...episode, projectId };
    await prisma.episode.update({ where: { id: episode.id }, data: { projectId } });
    await prisma.episodeAvailability.update({ where: { episodeId: episode.id }, data: { projectId } });
  }
}

const isMissing = (episode: Known) => episode.recordingIds.some((id) => missing.has(id));

function expected(query: Query): string[] {
  const { projectId, start, end, recordingId, hasMissingRecordings, metadataQuery = "" } = query;
  const { sortBy = "createdAt", sortOrder = "asc" } = query;
  const terms = parseQuery(metadataQuery);
  const found = known.filter(
    (episode) =>
      (projectId === undefined || episode.projectId === projectId) &&
      (start === undefined || episode.endTime >= start) &&
      (end === undefined || episode.startTime <= end) &&
      (start === undefined || end === undefined || start <= end) &&
      (recordingId === undefined || episode.recordingIds.includes(recordingId)) &&
      (hasMissingRecordings === undefined || isMissing(episode) === hasMissingRecordings) &&
      matchTerms(terms, episode.metadata),
  );
  const sorted = found.sort((one, other) => {
    const [a, b] = [one[sortBy], other[sortBy]];
    if (a !== b) return a < b ? -1 : 1;
    return one.id < other.id ? -1 : 1;
  });
  return (sortOrder === "asc" ? sorted : sorted.reverse()).map(({ id }) => id);
}

/** A recording is known in its own project, and in projects with an episode that has it. */
function isKnown({ projectId, recordingId }: Query): boolean {
  if (recordingId === undefined || projectId !== secondProject) return true;
  return known.some((episode) => episode.projectId === secondProject && episode.recordingIds.includes(recordingId));
}

async function list(query: Query, client: Client = admin) {
  const { output, headers } = await client.callWithHeaders(api.episodes.list, query);
  const ids = output.episodes.map(({ id }) => id);
  return {
    ids,
    episodes: output.episodes,
    next: headers[NEXT_CURSOR_HEADER],
    previous: headers[PREVIOUS_CURSOR_HEADER],
  };
}

type Page = Awaited<ReturnType<typeof list>>;

async function pages(query: Query, towards: "next" | "previous", from?: string): Promise<Page[]> {
  const found = [await list({ ...query, cursor: from })];
  for (let cursor = found[0]![towards]; cursor !== undefined; cursor = found.at(-1)![towards])
    found.push(await list({ ...query, cursor }));
  return found;
}

const instant = fc.oneof(
  fc.bigInt({ min: -2n, max: 20n }).map((offset) => START_NS + offset * SECOND),
  fc.constantFrom(...known.flatMap(({ startTime, endTime }) => [startTime, endTime])),
);
const ordered = {
  window: fc.tuple(instant, instant),
  hasMissingRecordings: fc.boolean(),
  sortBy: fc.constantFrom("createdAt", "startTime", "endTime"),
  sortOrder: fc.constantFrom("asc", "desc"),
  limit: fc.integer({ min: 3, max: 25 }),
} as const;
const filtered = {
  projectId: fc.constantFrom(firstProject, secondProject),
  recordingId: fc.constantFrom(...recordingIds, unused!),
  metadataQuery: fc.constantFrom("task:task-1", "isGood:true", "number:1,2,3,15", "TASK", "tags:t1 1", "none:*", ""),
};
const query = fc
  .oneof(
    fc.record(ordered, { requiredKeys: ["limit"] }),
    fc.record({ ...ordered, ...filtered }, { requiredKeys: ["limit"] }),
  )
  .map(({ window, ...rest }): Query => ({ ...rest, ...(window && { start: window[0], end: window[1] }) }));

test("every filter in every order gives the pages of a simple model, forwards and backwards", async () => {
  await fc.assert(
    fc.asyncProperty(query, async (asked) => {
      fc.pre(isKnown(asked));
      const ids = expected(asked);
      const there = await pages(asked, "next");
      assert.deepEqual(
        there.flatMap((page) => page.ids),
        ids,
      );
      assert.ok(there.every((page, at) => page.ids.length === asked.limit || at === there.length - 1));
      const last = there.at(-1)!;
      const back = last.previous === undefined ? [] : await pages(asked, "previous", last.previous);
      assert.deepEqual(
        back.reverse().map((page) => page.ids),
        there.slice(0, -1).map((page) => page.ids),
      );
      assert.equal(there[0]!.previous, undefined);
    }),
    { numRuns: propertyRuns(80) },
  );
});

test("rows of one availability are not skipped because the sample had only rows of the other one", async () => {
  const [here, away] = [recordingIds[0]!, recordingIds[11]!];
  const item = (at: number, recording: string, isRare: boolean) => ({
    recordings: [recording],
    startTime: BigInt(at),
    endTime: BigInt(at),
    metadata: isRare ? { rare: true } : {},
  });
  const common = Array.from({ length: 100 }, (_, at) => item(at, here, false));
  const rare = [item(100, here, true), item(101, away, true), item(102, away, true)];
  const { episodes } = await admin.call(api.episodes.getOrCreate, {
    projectId: firstProject,
    episodes: [...common, ...rare],
  });
  const { ids } = await list({ metadataQuery: "rare:true", sortBy: "startTime", limit: 1 });
  assert.deepEqual(ids, [episodes[100]!.id]);
  for (const { id } of episodes) await admin.call(api.episodes.delete, { id });
});

test("`offset` still works", async () => {
  for (const asked of [
    {},
    { sortBy: "startTime", metadataQuery: "isGood:true" },
    { start: START_NS, end: START_NS },
  ] as const)
    for (const offset of [0, 1, 7, 59, 60, 1000])
      assert.deepEqual((await list({ ...asked, offset, limit: 6 })).ids, expected(asked).slice(offset, offset + 6));
});

test("episodes that are created while somebody pages move none of the existing ones", async () => {
  const asked = { sortBy: "startTime", limit: 7 } as const;
  const before = expected(asked);
  const first = await list(asked);
  known.push(...(await createBatch(100)));
  const rest = await pages(asked, "next", first.next);
  const seen = [...first.ids, ...rest.flatMap((page) => page.ids)];
  assert.equal(new Set(seen).size, seen.length);
  assert.deepEqual(
    seen.filter((id) => before.includes(id)),
    before,
  );
});

test("a cursor of another query, or of a caller with other projects, is refused with 400 and code CursorRejected", async () => {
  const { next } = await list({ limit: 3, sortBy: "endTime" });
  assert.equal((await list({ limit: 5, sortBy: "endTime", cursor: next, include: ["recordings"] })).ids.length, 5);
  const rejected = refusedWith("CursorRejected", "cursor");
  for (const other of [
    { sortBy: "startTime" },
    { sortOrder: "desc" },
    { start: START_NS, end: START_NS },
    { hasMissingRecordings: false },
    { projectId: firstProject },
    { metadataQuery: "task:task-1" },
    { recordingId: recordingIds[0]! },
  ] as const)
    await assert.rejects(list({ limit: 3, sortBy: "endTime", ...other, cursor: next }), rejected);
  const limited = cloud.withToken(await cloud.addKey(["episodes.list"], [firstProject]));
  await assert.rejects(list({ limit: 3, sortBy: "endTime", cursor: next }, limited), rejected);
  const other = await cloud.otherOrganization();
  await assert.rejects(list({ limit: 3, sortBy: "endTime", cursor: next }, other), rejected);
  await assert.rejects(list({ limit: 3, cursor: "made-up" }), rejected);
});

test("a cursor with a nonzero offset, half a window and a malformed query are 400, and the error names them", async () => {
  const { next } = await list({ limit: 3 });
  await assert.rejects(list({ limit: 3, cursor: next, offset: 1 }), refusedWith("InvalidRequest", "offset"));
  await assert.rejects(
    list({ start: START_NS }),
    refusedWith("InvalidRequest", "end is required where start is given"),
  );
  await assert.rejects(list({ end: START_NS }), refusedWith("InvalidRequest", "start is required"));
  await assert.rejects(list({ metadataQuery: 'a:"b' }), refusedWith("InvalidRequest", "metadataQuery has"));
});

test("a key that is limited to some projects sees only their episodes, and another organization sees none", async () => {
  const limited = cloud.withToken(await cloud.addKey(["episodes.list"], [secondProject]));
  assert.deepEqual((await list({}, limited)).ids, expected({ projectId: secondProject }));
  await assert.rejects(list({ projectId: firstProject }, limited), refusedWith(404));
  assert.deepEqual((await list({}, await cloud.otherOrganization())).ids, []);
  assert.deepEqual((await list({}, cloud.withToken(await cloud.addKey(["episodes.list"], ["prj_gone"])))).ids, []);
});

test("`include` decides whether recordings with hasMissingRecordings, and creationContext are present; limit 0 lists nothing", async () => {
  const has = ({ recordings, hasMissingRecordings, creationContext }: Episode) =>
    [recordings, hasMissingRecordings, creationContext].map((field) => field !== undefined);
  const first = async (asked: Query) => (await list({ ...asked, limit: 1 })).episodes[0]!;
  assert.deepEqual(has(await first({})), [false, false, false]);
  assert.deepEqual(has(await first({ include: ["recordings"] })), [true, true, false]);
  assert.deepEqual(has(await first({ include: ["creationContext"] })), [false, false, true]);
  const all = await list({ include: ["recordings", "creationContext"] });
  assert.ok(all.episodes.every((episode) => has(episode).every(Boolean)));
  for (const { id, recordings, hasMissingRecordings } of all.episodes) {
    const episode = known.find((one) => one.id === id)!;
    assert.deepEqual(recordings!.map((member) => member.id).sort(), [...new Set(episode.recordingIds)].sort());
    assert.equal(hasMissingRecordings, isMissing(episode));
  }
  const one = await admin.call(api.episodes.get, { id: known[0]!.id });
  assert.deepEqual(has(one), [false, false, true]);
  assert.deepEqual(await list({ limit: 0 }), { ids: [], episodes: [], next: undefined, previous: undefined });
});

test("`include` is comma-separated or repeated; anything else in it is 400", async () => {
  const ask = async (text: string) => {
    const response = await fetch(`${cloud.url}/v1/episodes?limit=1&${text}`, {
      headers: { authorization: `Bearer ${cloud.adminKey}` },
    });
    const { episodes } = (await response.json()) as { episodes?: object[] };
    return episodes
      ? Object.keys(episodes[0]!).filter((key) => /^(recordings|creationContext)$/.test(key)).length
      : response.status;
  };
  assert.equal(await ask("include=recordings,creationContext"), 2);
  assert.equal(await ask("include=recordings&include=creationContext"), 2);
  assert.equal(await ask("include=recordings&unknown=1"), 1);
  assert.equal(await ask("include=topics"), 400);
});

slowTest("pages are right if a filter matches often, seldom or hardly ever, and if it matches late", async () => {
  const { id: projectId } = await admin.call(api.projects.create, { name: "large" });
  const count = 4000;
  const times = [3, 40, 1900].map((every) => [`every${every}:yes`, (at: number) => at % every === every - 1] as const);
  const filters = [...times, ["late:true", (at: number) => at >= 3000] as const];
  const [given] = await prisma.recording.findMany({ take: 1 });
  await prisma.recording.create({ data: { ...given!, metadata: [], id: "rec_large", projectId, indexKey: null } });
  const items = Array.from({ length: count }, (_, at) => ({
    recordings: ["rec_large"],
    startTime: BigInt(at),
    endTime: BigInt(at),
    metadata: Object.fromEntries(
      filters.filter(([, matches]) => matches(at)).map(([query]) => query.split(":") as [string, string]),
    ),
  }));
  const ids: string[] = [];
  for (const batch of [items.slice(0, 2000), items.slice(2000)]) {
    const { episodes } = await admin.call(api.episodes.getOrCreate, { projectId, episodes: batch });
    ids.push(...episodes.map(({ id }) => id));
  }
  for (const [metadataQuery, matches] of filters) {
    const wanted = ids.filter((_, at) => matches(at));
    const asked = { projectId, metadataQuery, sortBy: "startTime", limit: 45 } as const;
    const there = await pages(asked, "next");
    assert.deepEqual(
      there.flatMap((page) => page.ids),
      wanted,
      metadataQuery,
    );
    assert.deepEqual((await list({ ...asked, sortOrder: "desc" })).ids, wanted.reverse().slice(0, 45));
  }
});
