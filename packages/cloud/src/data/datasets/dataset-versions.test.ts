import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, type ImportStatus, NEXT_CURSOR_HEADER, PREVIOUS_CURSOR_HEADER } from "@downlink/protocol";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { createStoppedClock } from "../../testing/test-clock.ts";
import { makeEpisodes } from "./testing/make-episodes.ts";

const clock = createStoppedClock(1_700_000_000_000_000_000n, { stepNs: 1n });
const cloud = await startCloud({ after }, { works: false, clock });
const { admin } = cloud;
const { prisma } = cloud.deps.db;
const episode = (start: bigint, recording: 0 | 1 = 0) => ({ start, end: start + 10n, metadata: {}, recording });
const made = await makeEpisodes(cloud, [[episode(1n), episode(2n), episode(3n), episode(4n, 1)]]);
const missing = made.ids[3]!;
/** They stand in the order of their ids, which breaks ties in lists. */
const [first, second, third] = made.ids.slice(0, 3).sort() as [string, string, string];

let datasets = 0;

/** Creates a dataset; if episodes are given, one version with them is committed. */
async function start(episodeIds: string[] = []): Promise<string> {
  const { id } = await admin.call(api.datasets.create, {
    projectId: made.projectId,
    name: `dataset ${datasets++}`,
    episodeIds,
  });
  if (episodeIds.length > 0) await commit(id);
  return id;
}

const edit = (id: string, add: string[], remove: string[] = []) =>
  admin.call(api.datasets.changeEpisodes, { id, add, remove });
const commit = (id: string) => admin.call(api.datasetVersions.commit, { id });
const discard = (id: string) => admin.call(api.datasetVersions.discard, { id });
const restore = (id: string, versionNumber: number, force?: boolean) =>
  admin.call(api.datasetVersions.restore, { id, versionNumber, ...(force === undefined ? {} : { force }) });
const getVersion = (id: string, versionNumber: number) => admin.call(api.datasetVersions.get, { id, versionNumber });
const rowsOf = async (id: string, versionNumber: number) =>
  (await admin.call(api.datasetVersions.listEpisodes, { id, versionNumber })).episodes;
const idsOf = async (id: string, versionNumber: number) =>
  (await rowsOf(id, versionNumber)).map((row) => row.episode.id);
const shownIds = async (id: string) =>
  (await admin.call(api.datasets.listEpisodes, { id })).episodes.map((row) => row.episode.id);

test("adds and removals are staged: the editable version's counts include them, and the committed version stays as it is", async () => {
  const id = await start([first, second]);
  assert.deepEqual(await edit(id, [third, first, third], [second]), { added: 1, removed: 1, alreadyPresent: 2 });
  const { episodeCount, addedEpisodeCount, removedEpisodeCount } = await getVersion(id, 2);
  assert.deepEqual([episodeCount, addedEpisodeCount, removedEpisodeCount], [2, 1, 1]);
  assert.deepEqual(await idsOf(id, 2), [first, third]);
  assert.deepEqual(await idsOf(id, 1), [first, second]);
  assert.equal((await admin.call(api.datasets.get, { id })).episodeCount, 2);
});

test("a version has the message of its commit; a commit without a body has none", async () => {
  const id = await start([first]);
  await edit(id, [second]);
  const { committed } = await admin.call(api.datasetVersions.commit, { id, message: "Für Ann: 2 drives" });
  assert.equal(committed.message, "Für Ann: 2 drives");
  assert.equal((await getVersion(id, 2)).message, "Für Ann: 2 drives");
  assert.equal((await getVersion(id, 1)).message, undefined);
  await edit(id, [third]);
  const headers = { authorization: `Bearer ${cloud.adminKey}`, "content-type": "application/json" };
  const send = (body: string | null) =>
    fetch(`${cloud.url}/v1/datasets/${id}/commit`, { method: "POST", headers, body });
  assert.equal((await send(JSON.stringify({ message: "x".repeat(1001) }))).status, 400);
  assert.equal((await send(null)).status, 200);
});

test("a list of the dataset's episodes shows the editable version while nothing is committed, then the latest committed one", async () => {
  const id = await start();
  await edit(id, [first, second]);
  assert.deepEqual(await shownIds(id), [first, second]);
  assert.equal((await admin.call(api.datasets.get, { id })).episodeCount, 2);
  await commit(id);
  await edit(id, [third], [first]);
  assert.deepEqual(await shownIds(id), [first, second]);
  assert.equal((await admin.call(api.datasets.get, { id })).episodeCount, 2);
  await edit(id, [first]);
  await commit(id);
  assert.deepEqual(await shownIds(id), [first, second, third]);
  assert.equal((await admin.call(api.datasets.get, { id })).episodeCount, 3);
});

test("an id both to be added and to be removed is 400; an unknown one, or one of another project, is 404; nothing is written", async () => {
  const id = await start([first]);
  const { id: elsewhere } = await admin.call(api.projects.create, { name: "elsewhere" });
  const other = await admin.call(api.datasets.create, { projectId: elsewhere, name: "other" });
  await assert.rejects(edit(id, [second, third], [third]), refusedWith(400, third));
  await assert.rejects(edit(id, [second, "ep_unknown"]), refusedWith(404, "ep_unknown"));
  await assert.rejects(edit(id, [second], ["ep_unknown"]), refusedWith(404, "ep_unknown"));
  await assert.rejects(edit(other.id, [second]), refusedWith(404, second));
  assert.deepEqual(await idsOf(id, 2), [first]);
  await assert.rejects(commit(id), refusedWith(409));
});

test("removing an episode that is no member is ignored and not counted; an edit without effect changes nothing, not even `updatedAt`", async () => {
  const id = await start([first]);
  const { updatedAt } = await admin.call(api.datasets.get, { id });
  assert.deepEqual(await edit(id, [], [second, third]), { added: 0, removed: 0, alreadyPresent: 0 });
  assert.deepEqual(await edit(id, [first], []), { added: 0, removed: 0, alreadyPresent: 1 });
  assert.deepEqual(await edit(id, [], []), { added: 0, removed: 0, alreadyPresent: 0 });
  assert.equal((await admin.call(api.datasets.get, { id })).updatedAt, updatedAt);
});

test("taking back a staged removal leaves the member as it was; taking back a staged add leaves nothing", async () => {
  const id = await start([first]);
  const [before] = await rowsOf(id, 1);
  await edit(id, [second], [first]);
  assert.deepEqual(await edit(id, [first], [second]), { added: 1, removed: 1, alreadyPresent: 0 });
  assert.deepEqual(await rowsOf(id, 2), [before]);
  assert.equal(await prisma.datasetMember.count({ where: { datasetId: id } }), 1);
  await assert.rejects(commit(id), refusedWith(409, "no changes"));
});

test("an episode that was removed in one version and added in a later one is new in the later one, and unchanged in the first", async () => {
  const id = await start([first, second]);
  await edit(id, [], [first]);
  await commit(id);
  await edit(id, [first]);
  await commit(id);
  const added = async (version: number) =>
    (await rowsOf(id, version)).map((row) => [row.episode.id, row.addedInVersion]);
  assert.deepEqual(await added(1), [
    [first, 1],
    [second, 1],
  ]);
  assert.deepEqual(await added(2), [[second, 1]]);
  assert.deepEqual(await added(3), [
    [second, 1],
    [first, 3],
  ]);
});

test("a commit records who committed and when, opens the next version, and is published with the change", async () => {
  const id = await start();
  await edit(id, [first, second]);
  const { committed, editableVersionNumber } = await commit(id);
  const { committedAt, committedByApiKeyId, createdAt, ...rest } = committed;
  assert.deepEqual(rest, { versionNumber: 1, episodeCount: 2, addedEpisodeCount: 2, removedEpisodeCount: 0 });
  assert.ok(committedAt! > createdAt);
  assert.match(committedByApiKeyId!, /^key_/);
  assert.equal(editableVersionNumber, 2);
  const next = await getVersion(id, 2);
  assert.deepEqual(next, {
    ...{ versionNumber: 2, createdAt: committedAt, episodeCount: 2, addedEpisodeCount: 0, removedEpisodeCount: 0 },
    hasMissingRecordings: false,
  });
  const shown = await prisma.outboxEvent.findMany({ where: { payload: { path: ["dataset", "id"], equals: id } } });
  assert.deepEqual(
    shown.map(({ type, projectId, payload }) => ({ type, projectId, payload })),
    [
      {
        type: "dataset.committed",
        projectId: made.projectId,
        payload: {
          dataset: { id, name: (await admin.call(api.datasets.get, { id })).name },
          version: { versionNumber: 1, episodeCount: 2, addedEpisodeCount: 2, removedEpisodeCount: 0 },
        },
      },
    ],
  );
});

test('"409 when there are no changes": for a new dataset, after a commit, and after changes that were taken back', async () => {
  const id = await start();
  await assert.rejects(commit(id), refusedWith(409, `version 1 of dataset ${id} has no changes`));
  await edit(id, [first]);
  await commit(id);
  await assert.rejects(commit(id), refusedWith(409, "version 2"));
  await edit(id, [second], [first]);
  await discard(id);
  await assert.rejects(commit(id), refusedWith(409));
  assert.equal((await admin.call(api.datasetVersions.list, { id })).versions.length, 2);
});

test("a discard counts the staged adds and removals, and the editable version equals the last committed one again", async () => {
  const id = await start([first, second]);
  await edit(id, [third, missing], [first]);
  assert.deepEqual(await discard(id), { discardedAdds: 2, discardedRemoves: 1 });
  assert.deepEqual(await idsOf(id, 2), [first, second]);
  const { episodeCount, addedEpisodeCount, removedEpisodeCount } = await getVersion(id, 2);
  assert.deepEqual([episodeCount, addedEpisodeCount, removedEpisodeCount], [2, 0, 0]);
  assert.deepEqual(await discard(id), { discardedAdds: 0, discardedRemoves: 0 });
  const fresh = await start();
  await edit(fresh, [first]);
  assert.deepEqual(await discard(fresh), { discardedAdds: 1, discardedRemoves: 0 });
  assert.equal((await admin.call(api.datasets.get, { id: fresh })).episodeCount, 0);
});

test("a restore stages the difference to a committed version, and a commit then makes a new version of it", async () => {
  const id = await start([first, second]);
  await edit(id, [third], [first]);
  await commit(id);
  assert.deepEqual(await restore(id, 1), { added: 1, removed: 1, discardedAdds: 0, discardedRemoves: 0 });
  const { committed } = await commit(id);
  assert.deepEqual([committed.versionNumber, committed.episodeCount], [3, 2]);
  assert.deepEqual(new Set(await idsOf(id, 3)), new Set([first, second]));
  assert.deepEqual(await idsOf(id, 2), [second, third]);
  assert.deepEqual(await restore(id, 3), { added: 0, removed: 0, discardedAdds: 0, discardedRemoves: 0 });
  await assert.rejects(commit(id), refusedWith(409));
});

test("a restore over staged changes is 409 unless forced, by query or body; if forced it counts what it discards", async () => {
  const id = await start([first, second]);
  await edit(id, [third], [first]);
  const sentence = "Editable version has staged changes; pass force to overwrite";
  for (const force of [undefined, false]) await assert.rejects(restore(id, 1, force), refusedWith(409, sentence));
  assert.deepEqual(await idsOf(id, 2), [second, third]);
  const send = async (query: string, body?: string) => {
    const headers = { authorization: `Bearer ${cloud.adminKey}`, "content-type": "application/json" };
    const url = `${cloud.url}/v1/datasets/${id}/versions/1/restore${query}`;
    return (await fetch(url, { method: "POST", headers, body: body ?? "" })).json();
  };
  const discarded = { added: 0, removed: 0, discardedAdds: 1, discardedRemoves: 1 };
  assert.deepEqual(await send("?force=true"), discarded);
  await edit(id, [third], [first]);
  assert.deepEqual(await send("", '{"force":true}'), discarded);
  assert.deepEqual(await idsOf(id, 2), [first, second]);
});

test("a version that is not committed cannot be restored: 404, and nothing is discarded", async () => {
  const id = await start([first]);
  await edit(id, [second]);
  for (const version of [0, 2, 3])
    await assert.rejects(restore(id, version, true), refusedWith(404, `version ${version}`));
  assert.deepEqual(await idsOf(id, 2), [first, second]);
});

test("versions are listed by number, in pages to the end and back; `limit` 0 and the deprecated offset work", async () => {
  const id = await start([first]);
  for (const [add, remove] of [
    [second, first],
    [first, second],
    [second, first],
  ]) {
    await edit(id, [add!], [remove!]);
    await commit(id);
  }
  const list = (query: { sortOrder?: "asc" | "desc"; limit?: number; cursor?: string | undefined; offset?: number }) =>
    admin.callWithHeaders(api.datasetVersions.list, { id, ...query });
  const numbers = ({ output }: Awaited<ReturnType<typeof list>>) => output.versions.map((row) => row.versionNumber);
  const page = await list({ limit: 3 });
  assert.deepEqual(numbers(page), [1, 2, 3]);
  const last = await list({ limit: 3, cursor: page.headers[NEXT_CURSOR_HEADER] });
  assert.deepEqual([numbers(last), last.headers[NEXT_CURSOR_HEADER]], [[4, 5], undefined]);
  assert.deepEqual(numbers(await list({ limit: 3, cursor: last.headers[PREVIOUS_CURSOR_HEADER] })), [1, 2, 3]);
  assert.deepEqual(numbers(await list({ sortOrder: "desc" })), [5, 4, 3, 2, 1]);
  assert.deepEqual(numbers(await list({ offset: 3 })), [4, 5]);
  assert.deepEqual(numbers(await list({ limit: 0 })), []);
  const isRejected = refusedWith("CursorRejected");
  await assert.rejects(list({ sortOrder: "desc", cursor: page.headers[NEXT_CURSOR_HEADER] }), isRejected);
  const other = await start([first]);
  const elsewhere = admin.call(api.datasetVersions.list, { id: other, cursor: page.headers[NEXT_CURSOR_HEADER] });
  await assert.rejects(elsewhere, isRejected);
});

test("an unknown version is 404, and a text that is no number is 400", async () => {
  const id = await start([first]);
  const ask = async (version: string, rest = "") => {
    const headers = { authorization: `Bearer ${cloud.adminKey}` };
    return (await fetch(`${cloud.url}/v1/datasets/${id}/versions/${version}${rest}`, { headers })).status;
  };
  for (const rest of ["", "/episodes", "/compare?version=1"]) {
    assert.equal(await ask("2", rest), 200);
    for (const version of ["0", "3", "2147483647"]) assert.equal(await ask(version, rest), 404);
    for (const version of ["x", "-1", "1.5", "1e1", "99999999999"]) assert.equal(await ask(version, rest), 400);
  }
});

test('a version\'s `hasMissingRecordings` is "true when a recording in the version has no available data source"', async () => {
  const id = await start([first]);
  await edit(id, [missing]);
  await commit(id);
  const seen = async () => {
    const versions = await Promise.all([1, 2, 3].map((version) => getVersion(id, version)));
    return versions.map(({ hasMissingRecordings }) => hasMissingRecordings);
  };
  assert.deepEqual(await seen(), [false, true, true]);
  const setStatus = (at: 0 | 1, importStatus: ImportStatus) =>
    prisma.recording.update({ where: { id: made.recordingIds[at] }, data: { importStatus } });
  await setStatus(1, "complete");
  assert.deepEqual(await seen(), [false, false, false]);
  await setStatus(0, "none");
  assert.deepEqual(await seen(), [true, true, true]);
  await setStatus(0, "complete");
  await setStatus(1, "none");
});
