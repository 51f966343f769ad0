import assert from "node:assert/strict";
import { after, test } from "node:test";
import {
  api,
  type CallInput,
  type CursorHeaders,
  type DatasetEpisode,
  type DatasetVersion,
  NEXT_CURSOR_HEADER,
  PREVIOUS_CURSOR_HEADER,
} from "@downlink/protocol";
import fc from "fast-check";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { createStoppedClock } from "../../testing/test-clock.ts";
import * as model from "./testing/dataset-model.ts";
import { makeEpisodes, type TestEpisode } from "./testing/make-episodes.ts";

const clock = createStoppedClock(1_700_000_000_000_000_000n, { stepNs: 1n });
const cloud = await startCloud({ after }, { works: false, clock });
const { admin } = cloud;

/** The episodes share a few starts, ends and times of creation, so that ids must break ties. */
const batches = [0, 1, 2].map((batch) =>
  [0, 1, 2].map((at): TestEpisode => {
    const number = batch * 3 + at;
    const start = BigInt((number * 5) % 4) * 10n;
    const metadata = { number: String(number), parity: String(number % 2) };
    return { start, end: start + BigInt((number * 2) % 3) * 15n + 1n, metadata, recording: number % 3 === 0 ? 1 : 0 };
  }),
);
const { projectId, recordingIds, ids } = await makeEpisodes(cloud, batches);
const known = new Map(
  batches
    .flat()
    .map((episode, number) => [ids[number]!, { ...episode, id: ids[number]!, batch: Math.floor(number / 3) }]),
);

interface Model {
  dataset: model.DatasetModel;
}
interface Real {
  readonly name: string;
  id: string;
}
type Command = fc.AsyncCommand<Model, Real, boolean>;
type Sort = NonNullable<CallInput<typeof api.datasets.listEpisodes>["sortBy"]>;

/** A command changes the model and the service in the same way, and compares the two. */
function command(text: string, run: (dataset: model.DatasetModel, id: string) => Promise<unknown>): Command {
  return {
    check: () => true,
    run: async ({ dataset }, { id }) => void (await run(dataset, id)),
    toString: () => text,
  };
}

const nameOf = (id: string) => ids.indexOf(id);

function edit(given: readonly string[], remove: readonly string[]): Command {
  const add = given.filter((id) => !remove.includes(id));
  return command(`edit +${add.map(nameOf)} -${remove.map(nameOf)}`, async (dataset, id) => {
    const counts = model.edit(dataset, add, remove);
    assert.deepEqual(await admin.call(api.datasets.changeEpisodes, { id, add: [...add], remove: [...remove] }), counts);
  });
}

const commit = command("commit", async (dataset, id) => {
  const { added, removed } = model.changesOf(dataset, model.editableVersion(dataset));
  const committing = admin.call(api.datasetVersions.commit, { id });
  if (added.length + removed.length === 0) return assert.rejects(committing, refusedWith(409));
  model.commit(dataset);
  const { committed, editableVersionNumber } = await committing;
  assert.equal(editableVersionNumber, model.editableVersion(dataset));
  return assertVersion(dataset, committed);
});

const discard = command("discard", async (dataset, id) => {
  assert.deepEqual(await admin.call(api.datasetVersions.discard, { id }), model.discard(dataset));
});

function restore(pick: number, force: boolean): Command {
  return command(`restore ${pick}${force ? " by force" : ""}`, async (dataset, id) => {
    const versionNumber = 1 + (pick % (model.editableVersion(dataset) + 1));
    const restoring = admin.call(api.datasetVersions.restore, { id, versionNumber, force });
    const { discardedAdds, discardedRemoves } = model.countStaged(dataset);
    if (versionNumber >= model.editableVersion(dataset)) return assert.rejects(restoring, refusedWith(404));
    if (discardedAdds + discardedRemoves > 0 && !force) return assert.rejects(restoring, refusedWith(409));
    return assert.deepEqual(await restoring, model.restore(dataset, versionNumber));
  });
}

/** Deletes a dataset and creates it again with some episodes. */
function deleteDataset(episodeIds: readonly string[]): Command {
  return {
    check: () => true,
    run: async (state, real) => {
      assert.deepEqual(await admin.call(api.datasets.delete, { id: real.id }), { success: true });
      await assert.rejects(admin.call(api.datasets.get, { id: real.id }), refusedWith(404));
      await create(state, real, episodeIds);
    },
    toString: () => `delete, create with ${episodeIds.map(nameOf)}`,
  };
}

async function create(state: Model, real: Real, episodeIds: readonly string[]): Promise<void> {
  state.dataset = model.emptyDataset();
  const counts = model.edit(state.dataset, episodeIds, []);
  const made = await admin.call(api.datasets.create, { projectId, name: real.name, episodeIds: [...episodeIds] });
  const { added, removed, alreadyPresent } = made;
  assert.deepEqual({ added, removed, alreadyPresent }, counts);
  real.id = made.id;
}

const readVersions = command("versions", async (dataset, id) => {
  const { versions } = await admin.call(api.datasetVersions.list, { id });
  assert.deepEqual(
    versions.map(({ versionNumber }) => versionNumber),
    Array.from({ length: model.editableVersion(dataset) }, (_, i) => i + 1),
  );
  for (const version of versions) assertVersion(dataset, version);
  const shown = model.membersOf(dataset, Math.max(1, dataset.committed.length));
  assert.equal((await admin.call(api.datasets.get, { id })).episodeCount, shown.size);
  const { hasMissingRecordings } = await admin.call(api.datasetVersions.get, { id, versionNumber: 1 });
  const first = [...model.membersOf(dataset, 1).keys()];
  assert.equal(hasMissingRecordings, first.some(isMissing));
});

function assertVersion(dataset: model.DatasetModel, version: DatasetVersion): void {
  const { versionNumber, committedAt, episodeCount, addedEpisodeCount, removedEpisodeCount } = version;
  const { added, removed } = model.changesOf(dataset, versionNumber);
  assert.deepEqual([addedEpisodeCount, removedEpisodeCount], [added.length, removed.length]);
  assert.equal(episodeCount, model.membersOf(dataset, versionNumber).size);
  assert.equal(committedAt !== undefined, versionNumber <= dataset.committed.length);
}

const isMissing = (id: string) => known.get(id)!.recording === 1;

/** Each filter stands beside the query that asks for it. */
const filters: readonly [query: Partial<CallInput<typeof api.datasets.listEpisodes>>, (id: string) => boolean][] = [
  [{}, () => true],
  [{}, () => true],
  [{ hasMissingRecordings: true }, isMissing],
  [{ hasMissingRecordings: false }, (id) => !isMissing(id)],
  [{ recordingId: recordingIds[0] }, (id) => !isMissing(id)],
  [{ metadataQuery: "parity:1" }, (id) => known.get(id)!.metadata.parity === "1"],
  [{ start: 11n, end: 20n }, (id) => known.get(id)!.start <= 20n && known.get(id)!.end >= 11n],
];

interface Listing {
  readonly pick: number;
  readonly filter: number;
  readonly sortBy: Sort;
  readonly sortOrder: "asc" | "desc";
  readonly limit: number;
}

/** Lists all pages to the last one and back, of one version or of the version that the dataset shows. */
function listEpisodes({ pick, filter, sortBy, sortOrder, limit }: Listing): Command {
  return command(`list ${JSON.stringify({ pick, filter, sortBy, sortOrder, limit })}`, async (dataset, id) => {
    const versionNumber = pick % (model.editableVersion(dataset) + 1);
    const shown = versionNumber || Math.max(1, dataset.committed.length);
    const [query, holds] = filters[filter]!;
    const expected = sorted(dataset, shown, { sortBy, sortOrder }).filter(holds);
    const list = async (cursor: string | undefined) => {
      const asked = { id, sortBy, sortOrder, limit, cursor, ...query };
      return versionNumber === 0
        ? admin.callWithHeaders(api.datasets.listEpisodes, asked)
        : admin.callWithHeaders(api.datasetVersions.listEpisodes, { ...asked, versionNumber });
    };
    const forward = await walk(list, NEXT_CURSOR_HEADER);
    const members = forward.pages.flat();
    assert.deepEqual(
      members.map(({ episode }) => episode.id),
      expected,
    );
    const back = await walk(list, PREVIOUS_CURSOR_HEADER, forward.previous);
    assert.deepEqual(back.pages.reverse(), forward.pages.slice(0, -1));
    for (const { episode, addedInVersion, hasMissingRecordings } of members) {
      assert.equal(addedInVersion, model.membersOf(dataset, shown).get(episode.id)!.addedIn);
      assert.equal(hasMissingRecordings, isMissing(episode.id));
    }
  });
}

type List = (cursor: string | undefined) => Promise<{ output: { episodes: DatasetEpisode[] }; headers: CursorHeaders }>;

/** Follows the answers' cursors, and returns the pages and the cursor back of the last answer. */
async function walk(list: List, header: keyof CursorHeaders, from?: string) {
  const pages: DatasetEpisode[][] = [];
  if (header === PREVIOUS_CURSOR_HEADER && from === undefined) return { pages, previous: undefined };
  for (let cursor = from; ; ) {
    const { output, headers } = await list(cursor);
    pages.push(output.episodes);
    cursor = headers[header];
    if (cursor === undefined) return { pages, previous: headers[PREVIOUS_CURSOR_HEADER] };
  }
}

function sorted(
  dataset: model.DatasetModel,
  versionNumber: number,
  { sortBy, sortOrder }: Pick<Listing, "sortBy" | "sortOrder">,
): string[] {
  const members = model.membersOf(dataset, versionNumber);
  const keys: Record<Sort, (id: string) => number> = {
    addedAt: (id) => members.get(id)!.edit,
    createdAt: (id) => known.get(id)!.batch,
    startTime: (id) => Number(known.get(id)!.start),
    endTime: (id) => Number(known.get(id)!.end),
  };
  const byKey = (one: string, other: string) => keys[sortBy](one) - keys[sortBy](other) || (one < other ? -1 : 1);
  const ascending = [...members.keys()].sort(byKey);
  return sortOrder === "asc" ? ascending : ascending.reverse();
}

/** Compares two versions page by page; `limit` 0 asks for the counts alone. */
function compare(targetPick: number, basePick: number, limit: number): Command {
  return command(`compare ${targetPick} with ${basePick}, ${limit} a page`, async (dataset, id) => {
    const [versionNumber, version] = [targetPick, basePick].map((pick) => 1 + (pick % model.editableVersion(dataset)));
    const { added, removed } = model.changesOf(dataset, versionNumber!, version);
    const byStart = (one: string, other: string) =>
      Number(known.get(one)!.start - known.get(other)!.start) || (one < other ? -1 : 1);
    const expected = [...added, ...removed]
      .sort(byStart)
      .map((episode) => [episode, added.includes(episode) ? "added" : "removed"]);
    const changes: unknown[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await admin.call(api.datasetVersions.compare, {
        id,
        versionNumber: versionNumber!,
        version: version!,
        limit,
        cursor,
      });
      assert.deepEqual([page.addedCount, page.removedCount], [added.length, removed.length]);
      assert.ok(page.changes.length <= limit);
      changes.push(...page.changes.map(({ episode, change }) => [episode.id, change]));
      if (page.nextCursor === null) break;
      cursor = page.nextCursor;
    }
    assert.deepEqual(changes, limit === 0 ? [] : expected);
  });
}

const episodeIds = (maxLength: number) => fc.array(fc.constantFrom(...ids), { maxLength });
const pick = fc.nat({ max: 40 });
const sortOrder = fc.constantFrom("asc" as const, "desc" as const);
const listings = fc.record({
  pick,
  filter: fc.nat({ max: filters.length - 1 }),
  sortBy: fc.constantFrom<Sort>("addedAt", "createdAt", "startTime", "endTime"),
  sortOrder,
  limit: fc.integer({ min: 2, max: 9 }),
});
const commands = fc.commands<Model, Real, boolean>(
  [
    fc.tuple(episodeIds(6), episodeIds(4)).map(([add, remove]) => edit(add, remove)),
    fc.tuple(episodeIds(2), episodeIds(8)).map(([add, remove]) => edit(add, remove)),
    fc.constant(commit),
    fc.constant(commit),
    fc.constant(discard),
    fc.tuple(pick, fc.boolean()).map(([version, force]) => restore(version, force)),
    episodeIds(4).map(deleteDataset),
    fc.constant(readVersions),
    listings.map(listEpisodes),
    listings.map(listEpisodes),
    fc.tuple(pick, pick, fc.nat({ max: 4 })).map(([target, base, limit]) => compare(target, base, limit)),
  ],
  { maxCommands: 20, size: "+1" },
);

test("edits, commits, discards, restores, deletions, comparisons and pages in any order agree with a simple model", async () => {
  const property = fc.asyncProperty(commands, async (sequence) => {
    const [state, real]: [Model, Real] = [{ dataset: model.emptyDataset() }, { name: String(clock.nowNs()), id: "" }];
    await create(state, real, []);
    await fc.asyncModelRun(() => ({ model: state, real }), sequence);
  });
  await fc.assert(property, { numRuns: 100 });
});
