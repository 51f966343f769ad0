// How fast every list answers its first page, and whether an index serves it:
//
//   npm run bench [-- --scale 0.01] [--only /v1/events,/v1/data] [--runs 7]
//
// On a control plane and a database of its own, which go at the end. Exits 1 when a large table is read whole where
// expected-scans.ts does not say why; never for a time.
import { parseArgs } from "node:util";
import { startCloud } from "@downlink/cloud/testing";
import { timeEpisodeWrites } from "./episode-writes.ts";
import { filteredLists } from "./list-calls.ts";
import { callsOf, listOver, type Measured, measure, REFERENCE } from "./measure.ts";
import { findTableScans } from "./query-plans.ts";
import { reportScans, reportTimes, say } from "./report.ts";
import { scaleCounts, seed } from "./seed.ts";

const EPISODES = "/v1/episodes";
const { values } = parseArgs({
  options: {
    scale: { type: "string", default: "1" },
    only: { type: "string", default: "/v1/" },
    runs: { type: "string", default: "7" },
  },
});
const scale = Number(values.scale);
if (!(scale > 0 && scale <= 1)) throw new RangeError("--scale must be above 0 and at most 1");
const runs = Number(values.runs);
if (!(Number.isInteger(runs) && runs > 0)) throw new RangeError("--runs must be a whole number above 0");
process.exitCode = (await runBenchmark(values.only.split(","))) === 0 ? 0 : 1;

/** Returns the number of unexpected scans. */
async function runBenchmark(prefixes: readonly string[]): Promise<number> {
  await using closing = new AsyncDisposableStack();
  const cloud = await startCloud({ after: (close) => closing.defer(close) }, { works: false });
  const { pool } = cloud.deps.db;
  const seeded = await seed(pool, scaleCounts(scale), say);
  const lists = filteredLists(seeded).filter(({ path }) => prefixes.some((prefix) => path.startsWith(prefix)));
  const get = listOver(cloud);
  const reference = await measure(get, REFERENCE, runs);
  const measured: Measured[] = [];
  for (const list of lists) {
    const calls = callsOf(list);
    const startedMs = performance.now();
    for (const call of calls) measured.push({ ...call, ...(await measure(get, call.target, runs)) });
    say(
      `${calls.length} calls of ${list.path}, ${list.filter}, in ${((performance.now() - startedMs) / 1000).toFixed(1)} s`,
    );
  }
  reportTimes(measured, reference.medianMs);
  if (lists.some(({ path }) => path === EPISODES))
    for (const { what, ms } of await timeEpisodeWrites(cloud.admin, seeded)) say(`${what}: ${ms.toFixed(0)} ms`);
  if (scale < 1) say("at a scale below 1 the tables are too small for the plan check to say much");
  return reportScans(await findTableScans(pool, get, measured));
}
