import assert from "node:assert/strict";
import { after, test } from "node:test";
import {
  api,
  type CallInput,
  type DatasetEpisode,
  NEXT_CURSOR_HEADER,
  PREVIOUS_CURSOR_HEADER,
} from "@downlink/protocol";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { createStoppedClock } from "../../testing/test-clock.ts";
import { makeEpisodes } from "./testing/make-episodes.ts";

const clock = createStoppedClock(1_700_000_000_000_000_000n, { stepNs: 1n });
const cloud = await startCloud({ after }, { works: false, clock });
const { admin } = cloud;

/** Episodes that are created later start earlier; every third belongs to the recording that is not imported. */
const { projectId, recordingIds, ids } = await makeEpisodes(cloud, [
  [0, 1, 2, 3, 4, 5, 6, 7].map((number) => ({
    start: BigInt(100 - number * 10),
    end: BigInt(100 - number * 10 + (number % 3) * 15),
    metadata: { task: number < 4 ? "pick" : "place", number: String(number) },
    recording: number % 3 === 2 ? 1 : 0,
  })),
]);
const { id } = await admin.call(api.datasets.create, { projectId, name: "listed", episodeIds: [...ids.slice(0, 6)] });
await admin.call(api.datasetVersions.commit, { id });
await admin.call(api.datasets.changeEpisodes, { id, add: [ids[6]!], remove: [ids[0]!] });

type Query = Omit<CallInput<typeof api.datasets.listEpisodes>, "id">;
const list = (query: Query = {}) => admin.callWithHeaders(api.datasets.listEpisodes, { id, ...query });
const listVersion = (versionNumber: number, query: Query = {}) =>
  admin.callWithHeaders(api.datasetVersions.listEpisodes, { id, versionNumber, ...query });
const numbersOf = ({ output }: { output: { episodes: readonly DatasetEpisode[] } }) =>
  output.episodes.map(({ episode }) => ids.indexOf(episode.id));
const isRejected = refusedWith("CursorRejected");

test("an episode of a dataset shows when and in which version it was added, and whether data is missing", async () => {
  const { output } = await listVersion(2, { sortBy: "startTime" });
  const [added] = output.episodes;
  const { episode, addedAt, ...rest } = added!;
  assert.deepEqual(rest, { addedInVersion: 2, hasMissingRecordings: false });
  const { creationContext, ...shown } = await admin.call(api.episodes.get, { id: ids[6]! });
  assert.deepEqual([episode, creationContext], [shown, null]);
  assert.ok(addedAt > output.episodes[1]!.addedAt);
  assert.ok(!("recordings" in episode) && !("hasMissingRecordings" in episode));
  assert.deepEqual(
    output.episodes.map((row) => [ids.indexOf(row.episode.id), row.addedInVersion, row.hasMissingRecordings]),
    [
      [6, 2, false],
      [5, 1, true],
      [4, 1, false],
      [3, 1, false],
      [2, 1, true],
      [1, 1, false],
    ],
  );
});

test("`include` adds recordings and creationContext, and a cursor works whatever is included", async () => {
  const order = { sortBy: "startTime", sortOrder: "desc" } as const;
  const plain = await list({ ...order, limit: 2 });
  const cursor = plain.headers[NEXT_CURSOR_HEADER];
  const { output } = await list({ ...order, limit: 1, cursor, include: ["recordings", "creationContext"] });
  const { episode, hasMissingRecordings } = output.episodes[0]!;
  assert.equal(episode.id, ids[2]);
  assert.equal(episode.creationContext, null);
  assert.deepEqual([episode.hasMissingRecordings, hasMissingRecordings], [true, true]);
  assert.deepEqual(
    episode.recordings!.map((member) => [member.id, member.available]),
    [[recordingIds[1], false]],
  );
});

test("all sort orders work both ways; by default episodes come in the order in which they were added, and the id breaks ties", async () => {
  const sort = async (sortBy?: Query["sortBy"], sortOrder?: Query["sortOrder"]) =>
    numbersOf(await list({ ...(sortBy && { sortBy }), ...(sortOrder && { sortOrder }) }));
  const asMade = [0, 1, 2, 3, 4, 5].sort((one, other) => (ids[one]! < ids[other]! ? -1 : 1));
  assert.deepEqual(await sort(), asMade);
  assert.deepEqual(await sort("addedAt", "desc"), asMade.toReversed());
  assert.deepEqual(await sort("createdAt"), asMade);
  assert.deepEqual(await sort("startTime"), [5, 4, 3, 2, 1, 0]);
  assert.deepEqual(await sort("startTime", "desc"), [0, 1, 2, 3, 4, 5]);
  const ends = [100, 105, 110, 70, 75, 80];
  const byEnd = [0, 1, 2, 3, 4, 5].sort((one, other) => ends[one]! - ends[other]!);
  assert.deepEqual(await sort("endTime"), byEnd);
  assert.deepEqual(await sort("endTime", "desc"), byEnd.toReversed());
});

test("the filters work alone and together: a window that the episode touches, availability, a recording, metadata", async () => {
  const matching = async (query: Query) => numbersOf(await list(query)).sort();
  assert.deepEqual(await matching({ start: 80n, end: 80n }), [2, 5]);
  assert.deepEqual(await matching({ start: 76n, end: 79n }), [5]);
  assert.deepEqual(await matching({ start: 111n, end: 200n }), []);
  assert.deepEqual(await matching({ start: 200n, end: 100n }), []);
  assert.deepEqual(await matching({ hasMissingRecordings: true }), [2, 5]);
  assert.deepEqual(await matching({ hasMissingRecordings: false }), [0, 1, 3, 4]);
  assert.deepEqual(await matching({ recordingId: recordingIds[1] }), [2, 5]);
  await assert.rejects(matching({ recordingId: "rec_unknown" }), /"rec_unknown" not found/);
  assert.deepEqual(await matching({ metadataQuery: "task:place" }), [4, 5]);
  const all = {
    start: 0n,
    end: 500n,
    hasMissingRecordings: true,
    recordingId: recordingIds[1],
    metadataQuery: "place",
  };
  assert.deepEqual(await matching(all), [5]);
});

test("half a window is 400, and so is a malformed metadataQuery, which the error names", async () => {
  await assert.rejects(list({ start: 1n }), refusedWith(400, "end is required where start is given"));
  await assert.rejects(listVersion(1, { end: 1n }), refusedWith(400, "start is required where end is given"));
  await assert.rejects(list({ metadataQuery: '"open' }), refusedWith(400, "metadataQuery"));
});

test("pages with a filter lead to the end and back", async () => {
  const query: Query = { hasMissingRecordings: false, sortBy: "startTime", limit: 3 };
  const first = await list(query);
  const second = await list({ ...query, cursor: first.headers[NEXT_CURSOR_HEADER] });
  assert.deepEqual([...numbersOf(first), ...numbersOf(second)], [4, 3, 1, 0]);
  assert.equal(second.headers[NEXT_CURSOR_HEADER], undefined);
  const back = await list({ ...query, cursor: second.headers[PREVIOUS_CURSOR_HEADER] });
  assert.deepEqual(numbersOf(back), numbersOf(first));
});

test("the deprecated offset skips, and a cursor leads back there; `limit` 0 lists nothing", async () => {
  const page = await list({ offset: 4, limit: 1, sortBy: "startTime" });
  assert.deepEqual(numbersOf(page), [1]);
  const back = await list({ limit: 9, sortBy: "startTime", cursor: page.headers[PREVIOUS_CURSOR_HEADER] });
  assert.deepEqual(numbersOf(back), [5, 4, 3, 2]);
  assert.deepEqual(numbersOf(await list({ offset: 9 })), []);
  assert.deepEqual(numbersOf(await list({ limit: 0 })), []);
  await assert.rejects(list({ offset: 1, cursor: page.headers[PREVIOUS_CURSOR_HEADER] }), refusedWith(400, "offset"));
});

test("a cursor for another version, dataset, order, filter, operation or scope is CursorRejected", async () => {
  const { headers } = await listVersion(1, { limit: 1 });
  const cursor = headers[NEXT_CURSOR_HEADER];
  assert.equal(numbersOf(await listVersion(1, { cursor })).length, 5);
  await assert.rejects(listVersion(2, { cursor }), isRejected);
  await assert.rejects(listVersion(1, { cursor, sortBy: "endTime" }), isRejected);
  await assert.rejects(listVersion(1, { cursor, recordingId: recordingIds[0] }), isRejected);
  await assert.rejects(list({ cursor }), isRejected);
  const other = await admin.call(api.datasets.create, { projectId, name: "another", episodeIds: [...ids] });
  const elsewhere = admin.call(api.datasetVersions.listEpisodes, { id: other.id, versionNumber: 1, cursor });
  await assert.rejects(elsewhere, isRejected);
  const limited = cloud.withToken(await cloud.addKey(["datasets.list"], [projectId]));
  const scoped = limited.call(api.datasetVersions.listEpisodes, { id, versionNumber: 1, cursor });
  await assert.rejects(scoped, isRejected);
});

test("pages of a version stay as they are while others stage changes and commit; those of the dataset start over", async () => {
  const { id } = await admin.call(api.datasets.create, { projectId, name: "moving", episodeIds: [...ids.slice(0, 4)] });
  await admin.call(api.datasetVersions.commit, { id });
  const ask = { id, sortBy: "startTime", limit: 2 } as const;
  const ofDataset = await admin.callWithHeaders(api.datasets.listEpisodes, ask);
  const ofVersion = await admin.callWithHeaders(api.datasetVersions.listEpisodes, { ...ask, versionNumber: 1 });
  await admin.call(api.datasets.changeEpisodes, { id, add: [ids[7]!], remove: [ids[0]!, ids[1]!] });
  const next = { ...ask, cursor: ofDataset.headers[NEXT_CURSOR_HEADER] };
  assert.deepEqual(numbersOf(await admin.callWithHeaders(api.datasets.listEpisodes, next)), [1, 0]);
  await admin.call(api.datasetVersions.commit, { id });
  await assert.rejects(admin.call(api.datasets.listEpisodes, next), isRejected);
  const stays = { ...ask, versionNumber: 1, cursor: ofVersion.headers[NEXT_CURSOR_HEADER] };
  assert.deepEqual(numbersOf(await admin.callWithHeaders(api.datasetVersions.listEpisodes, stays)), [1, 0]);
});

test("pages of an editable version show each remaining episode once, whatever is staged between them", async () => {
  const { id } = await admin.call(api.datasets.create, { projectId, name: "staged", episodeIds: [...ids.slice(1, 7)] });
  const ask = { id, sortBy: "startTime", limit: 3 } as const;
  const first = await admin.callWithHeaders(api.datasets.listEpisodes, ask);
  assert.deepEqual(numbersOf(first), [6, 5, 4]);
  await admin.call(api.datasets.changeEpisodes, { id, add: [ids[7]!, ids[0]!], remove: [ids[4]!, ids[2]!] });
  const rest = await admin.callWithHeaders(api.datasets.listEpisodes, {
    ...ask,
    cursor: first.headers[NEXT_CURSOR_HEADER],
  });
  assert.deepEqual(numbersOf(rest), [3, 1, 0]);
});
