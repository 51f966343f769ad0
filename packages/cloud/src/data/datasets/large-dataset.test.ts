import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, type CallInput } from "@downlink/protocol";
import { runsSlowTests, slowTest } from "@downlink/recordings/testing";
import { startCloud } from "../../testing/start-cloud.ts";

const cloud = await startCloud({ after }, { works: false });
const { admin } = cloud;
const { prisma } = cloud.deps.db;
const { projectId, orgId } = await admin.call(api.devices.create, { name: "robot" });

/** With either number some versions are read along the index of an order, and others are read whole and sorted. */
const EPISODES = runsSlowTests() ? 60_000 : 6000;
const NEVER = 2 ** 31 - 1;

interface Member {
  readonly id: string;
  readonly addedIn: number;
  readonly removedIn: number;
  readonly addedAt: number;
  readonly createdAt: number;
  readonly startTime: number;
  readonly endTime: number;
  readonly isMissing: boolean;
}

/** Version 1 has every hundredth episode, version 2 all, version 3 the last tenth by start; every third start is shared by three. */
const members = Array.from({ length: EPISODES }, (_, number): Member => {
  const startTime = Math.floor(((number * 7919) % EPISODES) / 3);
  const addedIn = number % 100 === 0 ? 1 : 2;
  return {
    id: `ep_${String(number).padStart(6, "0")}`,
    addedIn,
    removedIn: startTime < (EPISODES / 3) * 0.9 ? 3 : NEVER,
    addedAt: addedIn * 1000 + (number % 7),
    createdAt: Math.floor(number / 10),
    startTime,
    endTime: startTime + (number % 11),
    isMissing: number % 50 === 0,
  };
});
const { id } = await admin.call(api.datasets.create, { projectId, name: "large" });
await store();

/** Stores the dataset by SQL, because nothing else does it in seconds. */
async function store(): Promise<void> {
  const rows = JSON.stringify(members);
  await prisma.$executeRaw`
    WITH given AS (
      SELECT * FROM jsonb_to_recordset(${rows}::jsonb) AS g(id text, "addedIn" int, "removedIn" int, "addedAt" bigint,
        "createdAt" bigint, "startTime" bigint, "endTime" bigint, "isMissing" boolean)
    ), episode AS (
      INSERT INTO "Episode" (id, "orgId", "projectId", "startNs", "endNs", metadata, "identitySha256", "createdAtNs")
      SELECT id, ${orgId}, ${projectId}, "startTime", "endTime", '{}', id, "createdAt" FROM given
    ), available AS (
      INSERT INTO "EpisodeAvailability" ("episodeId", "projectId", "missingCount", "hasMissing", "createdAtNs", "startNs", "endNs")
      SELECT id, ${projectId}, "isMissing"::int, "isMissing", "createdAt", "startTime", "endTime" FROM given
    )
    INSERT INTO "DatasetMember" ("datasetId", "episodeId", "addedIn", "removedIn", "addedAtNs", "createdAtNs", "startNs", "endNs")
    SELECT ${id}, id, "addedIn", "removedIn", "addedAt", "createdAt", "startTime", "endTime" FROM given`;
  await prisma.datasetVersion.deleteMany({ where: { datasetId: id } });
  const versions = [1, 2, 3, 4].map((versionNumber) => ({
    datasetId: id,
    versionNumber,
    committedAtNs: versionNumber < 4 ? 1n : null,
    createdAtNs: 0n,
    episodeCount: membersOf(versionNumber).length,
    addedEpisodeCount: members.filter(({ addedIn }) => addedIn === versionNumber).length,
    removedEpisodeCount: members.filter(({ removedIn }) => removedIn === versionNumber).length,
  }));
  await prisma.datasetVersion.createMany({ data: versions });
  await prisma.dataset.update({ where: { id }, data: { editableVersion: 4 } });
  await prisma.$executeRaw`ANALYZE "DatasetMember", "EpisodeAvailability", "Episode"`;
}

function membersOf(versionNumber: number): Member[] {
  return members.filter(({ addedIn, removedIn }) => addedIn <= versionNumber && removedIn > versionNumber);
}

type Query = CallInput<typeof api.datasetVersions.listEpisodes>;
type Sort = NonNullable<Query["sortBy"]>;

function inOrder(rows: readonly Member[], sortBy: Sort, sortOrder: "asc" | "desc"): string[] {
  const ids = [...rows]
    .sort((one, other) => one[sortBy] - other[sortBy] || (one.id < other.id ? -1 : 1))
    .map((row) => row.id);
  return sortOrder === "asc" ? ids : ids.reverse();
}

/** Reads `count` pages, from the first one on. */
async function firstPages(query: Query, count: number): Promise<string[]> {
  const seen: string[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < count; page++) {
    const { output, headers } = await admin.callWithHeaders(api.datasetVersions.listEpisodes, { ...query, cursor });
    seen.push(...output.episodes.map(({ episode }) => episode.id));
    cursor = headers["x-pagination-next-cursor"];
    if (cursor === undefined) break;
  }
  return seen;
}

for (const [versionNumber, what] of [
  [1, "few of all that the dataset ever had"],
  [2, "all of them"],
  [3, "those that are left, behind the removed ones in the order of starts"],
] as const)
  slowTest(`a version with ${what} lists its own members, in every order`, async () => {
    for (const sortBy of ["addedAt", "createdAt", "startTime", "endTime"] as const)
      for (const sortOrder of ["asc", "desc"] as const) {
        const seen = await firstPages({ id, versionNumber, sortBy, sortOrder, limit: 400 }, 2);
        const expected = inOrder(membersOf(versionNumber), sortBy, sortOrder).slice(0, 800);
        assert.deepEqual(seen, expected, `${sortBy} ${sortOrder}`);
      }
  });

test("a filter that matches often is served from the order's first rows, and another one from its own index", async () => {
  for (const versionNumber of [1, 2, 3])
    for (const hasMissingRecordings of [true, false]) {
      const seen = await firstPages({ id, versionNumber, hasMissingRecordings, sortBy: "startTime", limit: 50 }, 3);
      const matching = membersOf(versionNumber).filter(({ isMissing }) => isMissing === hasMissingRecordings);
      assert.deepEqual(
        seen,
        inOrder(matching, "startTime", "asc").slice(0, 150),
        `${versionNumber}, ${hasMissingRecordings}`,
      );
    }
});

slowTest(
  "a comparison with more changes than are sorted lists them in order, page by page, with their counts",
  async () => {
    for (const [base, target] of [
      [1, 2],
      [2, 1],
      [2, 3],
      [3, 1],
    ] as const) {
      const [before, after] = [new Set(membersOf(base)), new Set(membersOf(target))];
      const come = [...after].filter((member) => !before.has(member));
      const gone = [...before].filter((member) => !after.has(member));
      const expected = inOrder([...gone, ...come], "startTime", "asc").slice(0, 800);
      const compare = (cursor?: string) =>
        admin.call(api.datasetVersions.compare, { id, versionNumber: target, version: base, limit: 400, cursor });
      const first = await compare();
      const second = await compare(first.nextCursor!);
      for (const { addedCount, removedCount } of [first, second])
        assert.deepEqual([addedCount, removedCount], [come.length, gone.length]);
      const seen = [...first.changes, ...second.changes].map(({ episode }) => episode.id);
      assert.deepEqual(seen, expected, `${base} to ${target}`);
    }
  },
);

test("a restore stages only the difference, and leaves every other row as it is", async () => {
  const countOf = () => prisma.datasetMember.count({ where: { datasetId: id } });
  const before = await countOf();
  const difference = membersOf(2).length - membersOf(3).length;
  const restored = await admin.call(api.datasetVersions.restore, { id, versionNumber: 2 });
  assert.deepEqual(restored, { added: difference, removed: 0, discardedAdds: 0, discardedRemoves: 0 });
  assert.equal((await countOf()) - before, difference);
  const undone = await admin.call(api.datasetVersions.restore, { id, versionNumber: 3, force: true });
  assert.deepEqual(undone, { added: 0, removed: 0, discardedAdds: difference, discardedRemoves: 0 });
  assert.equal(await countOf(), before);
});

test("a version with many or few episodes says whether any of them misses recordings", async () => {
  const get = async (versionNumber: number) =>
    (await admin.call(api.datasetVersions.get, { id, versionNumber })).hasMissingRecordings;
  assert.deepEqual([await get(1), await get(2), await get(3)], [true, true, true]);
  const missing = membersOf(3).filter(({ isMissing }) => isMissing);
  await prisma.episodeAvailability.updateMany({
    where: { episodeId: { in: missing.map((member) => member.id) } },
    data: { hasMissing: false },
  });
  assert.deepEqual([await get(1), await get(2), await get(3)], [true, true, false]);
});
