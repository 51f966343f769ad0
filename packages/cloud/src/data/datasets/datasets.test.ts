import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { ApiCallError } from "@downlink/client";
import {
  api,
  type CallInput,
  type CursorHeaders,
  type Dataset,
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
const { prisma } = cloud.deps.db;
const { projectId, ids } = await makeEpisodes(cloud, [
  [1n, 2n, 3n, 4n].map((start) => ({ start, end: start + 10n, metadata: {}, recording: 0 })),
]);
const { id: otherProject } = await admin.call(api.projects.create, { name: "other" });

type Create = CallInput<typeof api.datasets.create>;
const create = (name: string, more: Partial<Create> = {}) =>
  admin.call(api.datasets.create, { projectId, name, ...more });
const get = (id: string) => admin.call(api.datasets.get, { id });

test("a new dataset has its first episodes staged in version 1, and names the API key that created it", async () => {
  const { added, removed, alreadyPresent, ...dataset } = await create("first", {
    description: "the first",
    episodeIds: [ids[0]!, ids[1]!, ids[0]!],
  });
  assert.deepEqual({ added, removed, alreadyPresent }, { added: 2, removed: 0, alreadyPresent: 1 });
  const { id, createdAt, updatedAt, creatorApiKeyId, ...rest } = dataset;
  assert.deepEqual(rest, {
    projectId,
    name: "first",
    description: "the first",
    creatorOrgMemberId: null,
    episodeCount: 2,
  });
  assert.match(id, /^ds_/);
  assert.match(creatorApiKeyId!, /^key_/);
  assert.equal(createdAt, updatedAt);
  assert.deepEqual(await get(id), dataset);
  const { versions } = await admin.call(api.datasetVersions.list, { id });
  assert.deepEqual(versions, [
    { versionNumber: 1, createdAt, episodeCount: 2, addedEpisodeCount: 2, removedEpisodeCount: 0 },
  ]);
});

test("a name is unique within its project, in upper or lower case; another project may use it, and a deleted dataset frees it", async () => {
  const { id } = await create("Ünique name");
  await assert.rejects(create("üNIQUE NAME"), refusedWith(409, 'named "üNIQUE NAME" already'));
  await create("Ünique name", { projectId: otherProject });
  const other = await create("renamed");
  const rename = (name: string) => admin.call(api.datasets.update, { id: other.id, name });
  await assert.rejects(rename("ünique NAME"), refusedWith(409));
  assert.equal((await rename("RENAMED")).name, "RENAMED");
  await admin.call(api.datasets.delete, { id });
  assert.equal((await rename("ünique name")).name, "ünique name");
});

test("of two callers who create a dataset of one name at the same moment, one is refused: 409", async () => {
  const made = await Promise.allSettled(["at once", "AT ONCE"].map((name) => create(name)));
  assert.deepEqual(made.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
  const refused = made.find((one) => one.status === "rejected");
  assert.ok(refusedWith(409)(refused!.reason as ApiCallError));
});

test("an invalid name, description or list of episodes is 400; an unknown project is 404", async () => {
  const send = async (body: object) => {
    const headers = { authorization: `Bearer ${cloud.adminKey}`, "content-type": "application/json" };
    const answer = await fetch(`${cloud.url}/v1/datasets`, { method: "POST", headers, body: JSON.stringify(body) });
    return answer.status;
  };
  const name = "never made";
  assert.equal(await send({ name }), 400);
  assert.equal(await send({ name, projectId: "" }), 400);
  assert.equal(await send({ projectId }), 400);
  assert.equal(await send({ projectId, name: "" }), 400);
  assert.equal(await send({ projectId, name: "x".repeat(101) }), 400);
  assert.equal(await send({ projectId, name: "a\0b" }), 400);
  assert.equal(await send({ projectId, name, description: "" }), 400);
  assert.equal(await send({ projectId, name, description: "x".repeat(501) }), 400);
  assert.equal(await send({ projectId, name, episodeIds: Array.from({ length: 2001 }, () => ids[0]) }), 400);
  assert.equal(await send({ projectId, name, episodeIds: [1] }), 400);
  assert.equal(await send({ projectId: "prj_unknown", name }), 404);
  assert.equal(await send({ projectId, name, description: "x".repeat(500) }), 200);
});

test("an unknown episode, or one of another project, is 404 and no dataset is created", async () => {
  const count = await prisma.dataset.count();
  await assert.rejects(create("with unknown", { episodeIds: [ids[0]!, "ep_unknown"] }), refusedWith(404, "ep_unknown"));
  const foreign = create("with foreign", { projectId: otherProject, episodeIds: [ids[0]!] });
  await assert.rejects(foreign, refusedWith(404, ids[0]!));
  assert.equal(await prisma.dataset.count(), count);
});

test("2000 episodes are accepted at once, even if they are one episode repeated", async () => {
  const { added, alreadyPresent } = await create("many", { episodeIds: Array.from({ length: 2000 }, () => ids[0]!) });
  assert.deepEqual([added, alreadyPresent], [1, 1999]);
});

test("an update changes the fields that are sent, null clears the description, and equal values change nothing", async () => {
  const { id, updatedAt } = await create("to update", { description: "one" });
  const update = (changes: { name?: string; description?: string | null }) =>
    admin.call(api.datasets.update, { id, ...changes });
  const renamed = await update({ name: "updated" });
  assert.deepEqual([renamed.name, renamed.description, renamed.updatedAt > updatedAt], ["updated", "one", true]);
  assert.deepEqual(await update({ name: "updated", description: "one" }), renamed);
  assert.deepEqual(await update({}), renamed);
  assert.equal((await update({ description: null })).description, null);
  assert.equal((await get(id)).description, null);
});

test("a deleted dataset is gone with its versions; its episodes stay, and can be deleted then", async () => {
  const { id } = await create("to delete", { episodeIds: [ids[3]!] });
  await admin.call(api.datasetVersions.commit, { id });
  const deleteEpisode = () => admin.call(api.episodes.delete, { id: ids[3]! });
  await assert.rejects(deleteEpisode(), refusedWith(409));
  assert.deepEqual(await admin.call(api.datasets.delete, { id }), { success: true });
  await assert.rejects(get(id), refusedWith(404));
  await assert.rejects(admin.call(api.datasets.delete, { id }), refusedWith(404));
  await assert.rejects(admin.call(api.datasetVersions.list, { id }), refusedWith(404));
  assert.equal(await prisma.datasetMember.count({ where: { datasetId: id } }), 0);
  assert.equal((await admin.call(api.episodes.get, { id: ids[3]! })).id, ids[3]);
  assert.deepEqual(await deleteEpisode(), { success: true });
});

test("a key that is limited to a project sees and changes only that project's datasets", async () => {
  const { id } = await create("in the first project");
  const limited = cloud.withToken(await cloud.addKey(["datasets.list", "datasets.update"], [otherProject]));
  const seen = await limited.call(api.datasets.list, {});
  assert.deepEqual([...new Set(seen.map((dataset) => dataset.projectId))], [otherProject]);
  await assert.rejects(limited.call(api.datasets.get, { id }), refusedWith(404));
  await assert.rejects(limited.call(api.datasets.list, { projectId }), refusedWith(404));
  await assert.rejects(limited.call(api.datasets.update, { id, name: "theirs" }), refusedWith(404));
  await assert.rejects(limited.call(api.datasetVersions.commit, { id }), refusedWith(404));
});

const { id: listed } = await admin.call(api.projects.create, { name: "listed" });
const names = ["a_b", "B%c", "a%B", "Äb", "plain", "back\\slash"];
const counts = [2, 0, 1, 1, 0, 3];
const inOrderOfCreation: Dataset[] = [];
for (const [at, name] of names.entries()) inOrderOfCreation.push(await createListed(name, counts[at]!));
const touched = await admin.call(api.datasets.update, { id: inOrderOfCreation[1]!.id, description: "touched" });
inOrderOfCreation[1] = touched;

/** Creates a dataset with so many episodes, some of another project, which only a test can add. */
async function createListed(name: string, episodeCount: number): Promise<Dataset> {
  const { id } = await create(name, { projectId: listed });
  await prisma.dataset.update({ where: { id }, data: { episodeCount } });
  return get(id);
}

type List = CallInput<typeof api.datasets.list>;
const list = (query: List = {}) => admin.call(api.datasets.list, { projectId: listed, ...query });
const namesOf = (found: readonly Dataset[]) => found.map(({ name }) => name);

test("`name` finds a part of the name, in upper or lower case; % and _ and backslashes stand for themselves", async () => {
  const matching = async (name: string) => namesOf(await list({ name }));
  assert.deepEqual(await matching("B"), ["a_b", "B%c", "a%B", "Äb", "back\\slash"]);
  assert.deepEqual(await matching("äB"), ["Äb"]);
  assert.deepEqual(await matching("%"), ["B%c", "a%B"]);
  assert.deepEqual(await matching("_"), ["a_b"]);
  assert.deepEqual(await matching("\\"), ["back\\slash"]);
  assert.deepEqual(await matching("'; --"), []);
  assert.deepEqual(await matching(""), names);
});

const sortKeys = {
  createdAt: ({ createdAt }: Dataset) => createdAt,
  updatedAt: ({ updatedAt }: Dataset) => updatedAt,
  episodeCount: ({ episodeCount }: Dataset) => episodeCount,
  name: ({ name }: Dataset) => name,
};

for (const [sortBy, keyOf] of Object.entries(sortKeys) as [keyof typeof sortKeys, (row: Dataset) => string][])
  for (const sortOrder of ["asc", "desc"] as const)
    test(`pages by ${sortBy} ${sortOrder} lead to the end and back, each dataset once; the id breaks ties`, async () => {
      const expected = [...inOrderOfCreation].sort((one, other) => {
        if (keyOf(one) !== keyOf(other)) return keyOf(one) < keyOf(other) ? -1 : 1;
        return one.id < other.id ? -1 : 1;
      });
      if (sortOrder === "desc") expected.reverse();
      const page = (cursor?: string) =>
        admin.callWithHeaders(api.datasets.list, { projectId: listed, sortBy, sortOrder, limit: 4, cursor });
      const first = await page();
      const second = await page(first.headers[NEXT_CURSOR_HEADER]);
      assert.deepEqual([...first.output, ...second.output], expected);
      assert.deepEqual(
        [first.headers[PREVIOUS_CURSOR_HEADER], second.headers[NEXT_CURSOR_HEADER]],
        [undefined, undefined],
      );
      assert.deepEqual((await page(second.headers[PREVIOUS_CURSOR_HEADER])).output, first.output);
    });

test("the deprecated offset skips, `limit` 0 lists nothing, and a cursor of another query is CursorRejected", async () => {
  assert.deepEqual(namesOf(await list({ offset: 4 })), names.slice(4));
  assert.deepEqual(await list({ limit: 0 }), []);
  const { headers } = await admin.callWithHeaders(api.datasets.list, { projectId: listed, limit: 2 });
  const cursor = (headers as CursorHeaders)[NEXT_CURSOR_HEADER]!;
  assert.deepEqual(namesOf(await list({ cursor })), names.slice(2));
  const isRejected = refusedWith("CursorRejected");
  for (const other of [{ name: "a" }, { sortBy: "name" }, { sortOrder: "desc" }, { projectId }] as List[])
    await assert.rejects(list({ cursor, ...other }), isRejected);
  await assert.rejects(list({ cursor: "made up" }), isRejected);
  await assert.rejects(list({ cursor, offset: 1 }), refusedWith(400, "offset"));
});

test("datasets of all projects are listed in one order", async () => {
  const all = await admin.call(api.datasets.list, { sortBy: "name", sortOrder: "desc" });
  assert.deepEqual(namesOf(all), namesOf(all).sort().reverse());
  assert.deepEqual(new Set(all.map((dataset) => dataset.projectId)), new Set([projectId, otherProject, listed]));
  const pages = [await admin.call(api.datasets.list, { limit: 3 }), await admin.call(api.datasets.list, { offset: 3 })];
  assert.deepEqual(pages.flat(), await admin.call(api.datasets.list, {}));
});
