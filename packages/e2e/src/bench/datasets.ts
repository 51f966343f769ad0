// How fast datasets of 1,000,000 episodes and 200 versions are:
//
//   npm run bench:datasets [-- --scale 0.01] [--runs 5]
//
// On a control plane and a database of its own, which go at the end.

import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { startCloud, type TestCloud } from "@downlink/cloud/testing";
import { api } from "@downlink/protocol";
import { makeTable } from "../terminal/make-table.ts";
import { listOver, measure, REFERENCE } from "./measure.ts";
import { say } from "./report.ts";
import { fillTables, scaleCounts } from "./seed.ts";
import { GROWN, PURGED, VERSIONS, versionTables } from "./version-tables.ts";

const { values } = parseArgs({
  options: { scale: { type: "string", default: "1" }, runs: { type: "string", default: "5" } },
});
const scale = Number(values.scale);
if (!(scale > 0 && scale <= 1)) throw new RangeError("--scale must be above 0 and at most 1");
const runs = Number(values.runs);
if (!(Number.isInteger(runs) && runs > 0)) throw new RangeError("--runs must be a whole number above 0");
const sorts = ["addedAt", "createdAt", "startTime", "endTime"].flatMap((key) => [`${key} asc`, `${key} desc`]);
await runBenchmark();

async function runBenchmark(): Promise<void> {
  await using closing = new AsyncDisposableStack();
  const cloud = await startCloud({ after: (close) => closing.defer(close) }, { works: false });
  await fillTables(cloud.deps.db.pool, (owner) => versionTables({ ...owner, ...scaleCounts(scale) }), say);
  const reference = await measure(listOver(cloud), REFERENCE, runs);
  say(`GET ${REFERENCE} takes ${reference.medianMs.toFixed(1)} ms in this run, on ${cpus().length} processors`);
  await measureFirstPages(cloud);
  await measureComparisons(cloud);
  await measureCommits(cloud);
  await measureRestores(cloud);
}

async function measureFirstPages(cloud: TestCloud): Promise<void> {
  const get = listOver(cloud);
  const table = makeTable(["first page of", ...sorts]);
  for (const datasetId of [GROWN, PURGED])
    for (const versionNumber of [1, VERSIONS / 2, VERSIONS])
      for (const limit of [100, 2000]) {
        const cells: string[] = [];
        for (const [sortBy, sortOrder] of sorts.map((sort) => sort.split(" "))) {
          const target = `/v1/datasets/${datasetId}/versions/${versionNumber}/episodes?sortBy=${sortBy}&sortOrder=${sortOrder}&limit=${limit}`;
          const { medianMs, rows } = await measure(get, target, runs);
          cells.push(`${medianMs.toFixed(0)} ms${rows < limit ? ` (${rows})` : ""}`);
        }
        table.push([`${datasetId} ${versionNumber}, ${limit}`, ...cells]);
      }
  say(table.toString());
}

async function measureComparisons(cloud: TestCloud): Promise<void> {
  const table = makeTable(["compare", "added", "removed", "counts", "first page"]);
  const pairs: readonly [string, number, number][] = [
    [GROWN, 1, VERSIONS],
    [GROWN, VERSIONS - 1, VERSIONS],
    [GROWN, VERSIONS / 2, VERSIONS / 2 + 1],
    [GROWN, VERSIONS, 1],
    [PURGED, 1, VERSIONS],
    [PURGED, VERSIONS / 2 - 1, VERSIONS / 2],
  ];
  for (const [datasetId, base, target] of pairs) {
    const ask = (limit: number) =>
      cloud.admin.call(api.datasetVersions.compare, { id: datasetId, versionNumber: target, version: base, limit });
    const { addedCount, removedCount } = await ask(0);
    const counts = await measure(async () => (await ask(0)).addedCount, "", runs);
    const page = await measure(async () => (await ask(2000)).changes.length, "", runs);
    table.push([
      `${datasetId} ${base} → ${target}`,
      addedCount,
      removedCount,
      `${counts.medianMs.toFixed(0)} ms`,
      `${page.medianMs.toFixed(0)} ms`,
    ]);
  }
  say(table.toString());
}

async function measureCommits({ admin }: TestCloud): Promise<void> {
  const table = makeTable(["2000 changes", "staged", "committed", "discarded"]);
  const present = await admin.call(api.datasets.listEpisodes, { id: GROWN, sortBy: "startTime" });
  const remove = present.episodes.map(({ episode }) => episode.id);
  const stage = (edit: object) => timeMs(() => admin.call(api.datasets.changeEpisodes, { id: GROWN, ...edit }));
  const commit = () => timeMs(() => admin.call(api.datasetVersions.commit, { id: GROWN }));
  table.push(["removals", await stage({ remove }), await commit(), ""]);
  table.push(["adds", await stage({ add: remove }), await commit(), ""]);
  const discard = () => timeMs(() => admin.call(api.datasetVersions.discard, { id: GROWN }));
  table.push(["removals", await stage({ remove }), "", await discard()]);
  say(table.toString());
}

async function measureRestores({ admin }: TestCloud): Promise<void> {
  for (const versionNumber of [VERSIONS - 1, VERSIONS / 2]) {
    const restore = () =>
      admin.call(api.datasetVersions.restore, { id: GROWN, versionNumber, force: true }, { timeoutMs: 600_000 });
    const startedMs = performance.now();
    const { added, removed } = await restore();
    say(
      `restored version ${versionNumber}: ${added} added, ${removed} removed, in ${((performance.now() - startedMs) / 1000).toFixed(1)} s`,
    );
  }
}

async function timeMs(work: () => Promise<unknown>): Promise<string> {
  const startedMs = performance.now();
  await work();
  return `${(performance.now() - startedMs).toFixed(0)} ms`;
}
