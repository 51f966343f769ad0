import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { ApiCallError } from "@downlink/client";
import { api } from "@downlink/protocol";
import { slowTest } from "@downlink/recordings/testing";
import { untilLockWaits } from "../../testing/lock-waits.ts";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { makeEpisodes } from "./testing/make-episodes.ts";

const cloud = await startCloud({ after }, { works: false });
const { admin } = cloud;
const { prisma } = cloud.deps.db;
const { projectId, ids: made } = await makeEpisodes(cloud, [
  Array.from({ length: 40 }, (_, at) => ({ start: BigInt(at), end: 100n, metadata: {}, recording: 0 })),
]);
const ids = made.slice(0, 30);
/** These are in no dataset until their test adds them. */
const [doomed, ...others] = made.slice(30) as [string, ...string[]];
let datasets = 0;

async function start(episodeIds: readonly string[] = []): Promise<string> {
  const name = `dataset ${datasets++}`;
  return (await admin.call(api.datasets.create, { projectId, name, episodeIds: [...episodeIds] })).id;
}

const edit = (id: string, add: readonly string[], remove: readonly string[] = []) =>
  admin.call(api.datasets.changeEpisodes, { id, add: [...add], remove: [...remove] });
const commit = (id: string) => admin.call(api.datasetVersions.commit, { id });
const isConflict = (error: unknown) => (error as ApiCallError).status === 409;

/** Checks that the counts of all versions equal the numbers of their members. */
async function assertCounted(id: string): Promise<void> {
  const { versions } = await admin.call(api.datasetVersions.list, { id });
  for (const { versionNumber, episodeCount, addedEpisodeCount, removedEpisodeCount } of versions) {
    const { episodes } = await admin.call(api.datasetVersions.listEpisodes, { id, versionNumber });
    assert.equal(episodes.length, episodeCount);
    const before = versions[versionNumber - 2]?.episodeCount ?? 0;
    assert.equal(before + addedEpisodeCount - removedEpisodeCount, episodeCount);
  }
}

test("of commits at the same moment one makes the version, and the others find no changes: 409", async () => {
  const id = await start(ids);
  const done = await Promise.allSettled(Array.from({ length: 5 }, () => commit(id)));
  assert.equal(done.filter(({ status }) => status === "fulfilled").length, 1);
  for (const one of done) if (one.status === "rejected") assert.ok(isConflict(one.reason));
  assert.equal((await admin.call(api.datasetVersions.list, { id })).versions.length, 2);
  assert.equal(await prisma.outboxEvent.count({ where: { payload: { path: ["dataset", "id"], equals: id } } }), 1);
});

test("of callers who add the same episodes at the same moment one adds each, and the others find it present", async () => {
  const id = await start();
  const done = await Promise.all([ids, ids.toReversed(), ids, ids.toReversed()].map((add) => edit(id, add)));
  assert.equal(
    done.reduce((sum, { added }) => sum + added, 0),
    ids.length,
  );
  assert.equal(
    done.reduce((sum, { alreadyPresent }) => sum + alreadyPresent, 0),
    3 * ids.length,
  );
  assert.equal((await admin.call(api.datasets.get, { id })).episodeCount, ids.length);
  await assertCounted(id);
});

slowTest(
  "when commits run beside adds and removals, each change is in the version whose commit followed it, and none is lost",
  async () => {
    const id = await start();
    const edits = ids.map((episode, at) => edit(id, [episode], at >= 15 ? [ids[at - 15]!] : []));
    const commits = Array.from({ length: 8 }, () => commit(id).catch((error: unknown) => assert.ok(isConflict(error))));
    await Promise.all([...edits, ...commits]);
    await commit(id).catch((error: unknown) => assert.ok(isConflict(error)));
    await assertCounted(id);
    const { versions } = await admin.call(api.datasetVersions.list, { id });
    const added = versions.reduce((sum, { addedEpisodeCount }) => sum + addedEpisodeCount, 0);
    const last = versions.at(-1)!;
    assert.ok(added <= ids.length && last.addedEpisodeCount + last.removedEpisodeCount === 0);
    assert.equal(
      await prisma.datasetMember.count({ where: { datasetId: id, removedIn: 2 ** 31 - 1 } }),
      last.episodeCount,
    );
  },
);

slowTest("edits, discards, restores and commits at the same moment leave correct counts", async () => {
  const id = await start(ids.slice(0, 10));
  await commit(id);
  const work = ids.flatMap((episode, at) => [
    edit(id, [episode], at % 2 === 0 ? [] : [ids[at - 1]!]),
    ...(at % 7 === 0 ? [admin.call(api.datasetVersions.discard, { id })] : []),
    ...(at % 9 === 0 ? [admin.call(api.datasetVersions.restore, { id, versionNumber: 1, force: true })] : []),
    ...(at % 5 === 0 ? [commit(id)] : []),
  ]);
  for (const one of await Promise.allSettled(work)) if (one.status === "rejected") assert.ok(isConflict(one.reason));
  await assertCounted(id);
});

test("of an edit and the deletion of its dataset at the same moment one comes first: done or 404, and nothing is left over", async () => {
  for (let round = 0; round < 5; round++) {
    const id = await start(ids.slice(0, 5));
    const [edited, deleted] = await Promise.allSettled([edit(id, ids), admin.call(api.datasets.delete, { id })]);
    assert.equal(deleted.status, "fulfilled");
    if (edited.status === "rejected") assert.equal((edited.reason as ApiCallError).status, 404);
    assert.equal(await prisma.datasetMember.count({ where: { datasetId: id } }), 0);
  }
});

test("an add of an episode that is being deleted waits, and is 404 once it is gone", async () => {
  const id = await start();
  const deletion = Promise.withResolvers<void>();
  const deleting = prisma.$transaction(async (tx) => {
    await tx.episode.delete({ where: { id: doomed } });
    deletion.resolve();
    await untilLockWaits(cloud.deps.db);
  });
  await deletion.promise;
  await assert.rejects(edit(id, [doomed]), refusedWith(404));
  await deleting;
});

test("of an add and the deletion of its episode at the same moment one comes first: 409 for the deletion, or 404 for the add", async () => {
  const id = await start();
  const work = others.map(async (episode) => {
    const done = await Promise.allSettled([edit(id, [episode]), admin.call(api.episodes.delete, { id: episode })]);
    const [added, deleted] = done.map((one) => (one.status === "rejected" ? (one.reason as ApiCallError).status : 200));
    assert.ok((added === 200 && deleted === 409) || (added === 404 && deleted === 200), `${added} and ${deleted}`);
  });
  await Promise.all(work);
  await assertCounted(id);
});
