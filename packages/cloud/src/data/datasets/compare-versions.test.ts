import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, type CallInput, NEXT_CURSOR_HEADER, PREVIOUS_CURSOR_HEADER } from "@downlink/protocol";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { makeEpisodes } from "./testing/make-episodes.ts";

const cloud = await startCloud({ after }, { works: false });
const { admin } = cloud;
const { projectId, ids, recordingIds } = await makeEpisodes(cloud, [
  [3n, 1n, 2n, 2n, 5n].map((start, number) => ({
    start,
    end: 10n + BigInt(number),
    metadata: {},
    recording: number === 4 ? 1 : 0,
  })),
]);
const [a, b, c, d, e] = ids as [string, string, string, string, string];
const { id } = await admin.call(api.datasets.create, { projectId, name: "compared" });

/** 1: a b · 2: b c d · 3: a b d e · 4, editable: b e */
for (const [at, [add, remove]] of (
  [
    [[a, b], []],
    [[c, d], [a]],
    [[a, e], [c]],
    [[], [a, d]],
  ] as const
).entries()) {
  await admin.call(api.datasets.changeEpisodes, { id, add: [...add], remove: [...remove] });
  if (at < 3) await admin.call(api.datasetVersions.commit, { id });
}

type Compare = CallInput<typeof api.datasetVersions.compare>;
const compare = (base: number, target: number, more: Partial<Compare> = {}) =>
  admin.callWithHeaders(api.datasetVersions.compare, { id, versionNumber: target, version: base, ...more });
const changesOf = async (base: number, target: number, more?: Partial<Compare>) => {
  const { changes, addedCount, removedCount } = (await compare(base, target, more)).output;
  const shown = changes.map(
    ({ episode, change }) => (change === "added" ? "+" : "-") + "abcde"[ids.indexOf(episode.id)],
  );
  return [shown.join(" "), addedCount, removedCount];
};
const [before, after2] = c < d ? ["c", "d"] : ["d", "c"];

test('"`added` means present in the target and not in the base; `removed` means the reverse", ordered by start', async () => {
  assert.deepEqual(await changesOf(1, 2), [`+${before} +${after2} -a`, 2, 1]);
  assert.deepEqual(await changesOf(2, 1), [`-${before} -${after2} +a`, 1, 2]);
  assert.deepEqual(await changesOf(2, 3), ["-c +a +e", 2, 1]);
});

test("an episode that was removed and added again between the two versions is no change", async () => {
  assert.deepEqual(await changesOf(1, 3), ["+d +e", 2, 0]);
  assert.deepEqual(await changesOf(3, 1), ["-d -e", 0, 2]);
});

test("the editable version compares with its staged changes; a version with itself has none", async () => {
  assert.deepEqual(await changesOf(3, 4), ["-d -a", 0, 2]);
  assert.deepEqual(await changesOf(4, 1), ["+a -e", 1, 1]);
  for (const version of [1, 2, 3, 4]) assert.deepEqual(await changesOf(version, version), ["", 0, 0]);
});

test("a change shows the row that it is about: in the target if it was added, in the base if it was removed", async () => {
  const versions = async (base: number, target: number) =>
    (await compare(base, target)).output.changes.map((row) => [row.change, row.addedInVersion]);
  assert.deepEqual(await versions(2, 3), [
    ["removed", 2],
    ["added", 3],
    ["added", 3],
  ]);
  assert.deepEqual(await versions(3, 4), [
    ["removed", 2],
    ["removed", 3],
  ]);
  const { changes } = (await compare(2, 3, { include: ["recordings"] })).output;
  assert.deepEqual(
    changes.map((row) => row.hasMissingRecordings),
    [false, false, true],
  );
  assert.deepEqual(
    changes.map((row) => row.episode.recordings![0]!.id),
    [recordingIds[0], recordingIds[0], recordingIds[1]],
  );
});

test("each page has the counts of the whole changeset, and its cursors also in the headers, to the end and back", async () => {
  const first = await compare(1, 2, { limit: 2 });
  assert.equal(first.output.nextCursor, first.headers[NEXT_CURSOR_HEADER]);
  assert.deepEqual([first.output.addedCount, first.output.removedCount], [2, 1]);
  const last = await compare(1, 2, { limit: 2, cursor: first.output.nextCursor! });
  assert.deepEqual(
    last.output.changes.map((row) => row.episode.id),
    [a],
  );
  assert.deepEqual([last.output.addedCount, last.output.removedCount, last.output.nextCursor], [2, 1, null]);
  const back = await compare(1, 2, { limit: 2, cursor: last.headers[PREVIOUS_CURSOR_HEADER] });
  assert.deepEqual(back.output.changes, first.output.changes);
});

test('"`limit` 0 returns no changes and no cursor but still returns counts"', async () => {
  assert.deepEqual((await compare(1, 2, { limit: 0 })).output, {
    changes: [],
    addedCount: 2,
    removedCount: 1,
    nextCursor: null,
  });
});

test('"Cursors are tied to the dataset, the compared versions and the project scope": else CursorRejected', async () => {
  const cursor = (await compare(1, 2, { limit: 1 })).output.nextCursor!;
  const isRejected = refusedWith("CursorRejected");
  await assert.rejects(compare(1, 3, { cursor }), isRejected);
  await assert.rejects(compare(3, 2, { cursor }), isRejected);
  await assert.rejects(compare(2, 1, { cursor }), isRejected);
  const { id: other } = await admin.call(api.datasets.create, { projectId, name: "other", episodeIds: [...ids] });
  await admin.call(api.datasetVersions.commit, { id: other });
  await assert.rejects(compare(1, 2, { id: other, cursor }), isRejected);
  const limited = cloud.withToken(await cloud.addKey(["datasets.list"], [projectId]));
  const asked = { id, versionNumber: 2, version: 1, cursor };
  await assert.rejects(limited.call(api.datasetVersions.compare, asked), isRejected);
});

test("a base or target that does not exist is 404; a missing base is 400, and so is base 0", async () => {
  for (const [base, target] of [
    [5, 1],
    [1, 5],
    [1, 0],
  ])
    await assert.rejects(compare(base!, target!), refusedWith(404));
  const headers = { authorization: `Bearer ${cloud.adminKey}` };
  for (const query of ["", "?version=0", "?version=x", "?version=1&limit=2001"]) {
    const { status } = await fetch(`${cloud.url}/v1/datasets/${id}/versions/1/compare${query}`, { headers });
    assert.equal(status, 400);
  }
});
