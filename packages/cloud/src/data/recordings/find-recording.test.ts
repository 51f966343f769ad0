import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api } from "@downlink/protocol";
import { newId } from "../../db/ids.ts";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";

const cloud = await startCloud({ after }, { works: false });
const { admin } = cloud;
const { prisma } = cloud.deps.db;
const [first] = await admin.call(api.projects.list, {});
const { orgId } = await prisma.project.findUniqueOrThrow({ where: { id: first!.id } });
const second = await admin.call(api.projects.create, { name: "second" });

async function store(more: { key?: string; createdAtNs: bigint; importedAtNs?: bigint; projectId?: string }) {
  const { id } = await prisma.recording.create({
    data: {
      id: newId("rec"),
      orgId,
      projectId: first!.id,
      path: "a.mcap",
      sizeBytes: 1n,
      startNs: 1n,
      endNs: 2n,
      durationNs: 1n,
      format: "mcap",
      messageCount: 1n,
      metadata: [],
      importStatus: more.importedAtNs === undefined ? "none" : "complete",
      isEdge: true,
      ...more,
    },
  });
  return id;
}

const find = async (keyOrId: string, projectId?: string) =>
  (await admin.call(api.recordings.get, { keyOrId, projectId })).id;

test("a recording is found by its id or by its key, with slashes, percent signs and any letters in it", async () => {
  for (const key of ["a/b", "50%2F", "über?#", "機器人 🤖"]) {
    const id = await store({ key, createdAtNs: 1n });
    assert.deepEqual([await find(key), await find(id)], [id, id], key);
  }
  await assert.rejects(find("unknown"), refusedWith("NotFound"));
});

test("an id wins over the same text as a key", async () => {
  const id = await store({ createdAtNs: 2n });
  await store({ key: id, createdAtNs: 1n });
  assert.equal(await find(id), id);
});

test("of copies with one key the imported one is meant, else the oldest", async () => {
  await store({ key: "copied", createdAtNs: 3n });
  const oldest = await store({ key: "copied", createdAtNs: 1n });
  assert.equal(await find("copied"), oldest);
  const imported = await store({ key: "copied", createdAtNs: 2n, importedAtNs: 9n });
  assert.equal(await find("copied"), imported);
});

test("a key in several projects needs `projectId`", async () => {
  const here = await store({ key: "both", createdAtNs: 1n });
  const there = await store({ key: "both", createdAtNs: 1n, projectId: second.id });
  await assert.rejects(find("both"), refusedWith("AmbiguousName"));
  assert.deepEqual([await find("both", first!.id), await find("both", second.id)], [here, there]);
  await assert.rejects(find(here, second.id), refusedWith("NotFound"));
});
