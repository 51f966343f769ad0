// How much the pages of the control plane cost a browser and the service, beside their budgets:
//
//   npm run bench:console [-- --devices 1000] [--recordings 300000] [--minutes 1] [--only sizes|timeline|list|idle|server|pictures]
//
// It starts a control plane, a Postgres and a Chromium of its own, which end with it. It scrolls the list for so many minutes, and lets
// tabs rest as long visible and as long hidden. It exits with 1 where a size or a count is beyond its budget, never for a time.
import { parseArgs } from "node:util";
import { whyNoBrowser } from "../../console/testing/browser.ts";
import { say } from "../report.ts";
import { type ConsoleUnderTest, startConsoleUnderTest } from "./console-under-test.ts";
import { countIdleCalls } from "./count-idle-calls.ts";
import { driveList } from "./drive-list.ts";
import { driveTimeline } from "./drive-timeline.ts";
import { measureFirstLoad } from "./measure-first-load.ts";
import { measurePictures } from "./measure-pictures.ts";
import { measureSizes } from "./measure-sizes.ts";
import { type Row, reportRows } from "./rows.ts";
import { timeServer } from "./time-server.ts";

const { values } = parseArgs({
  options: {
    devices: { type: "string", default: "1000" },
    recordings: { type: "string", default: "300000" },
    minutes: { type: "string", default: "1" },
    only: { type: "string", default: "" },
  },
});
const [devices, recordings, minutes] = [values.devices, values.recordings, values.minutes].map(Number) as [
  number,
  number,
  number,
];
for (const [name, count] of Object.entries({ devices, recordings }))
  if (!(Number.isInteger(count) && count >= 100))
    throw new RangeError(`--${name} must be a whole number of at least 100`);
if (!(minutes > 0)) throw new RangeError("--minutes must be above 0");

const PARTS: Readonly<Record<string, (console: ConsoleUnderTest) => Promise<Row[]>>> = {
  sizes: async (console) => [...(await measureSizes(console)), ...(await measureFirstLoad(console))],
  timeline: driveTimeline,
  list: (console) => driveList(console, minutes),
  idle: (console) => countIdleCalls(console, minutes),
  server: timeServer,
  pictures: measurePictures,
};
const chosen = Object.entries(PARTS).filter(([name]) => values.only === "" || values.only.split("|").includes(name));
if (chosen.length === 0) throw new RangeError(`--only must name some of ${Object.keys(PARTS).join(", ")}`);
const why = whyNoBrowser();
if (why !== undefined) throw new Error(why);
process.exitCode = (await runBenchmark()) ? 0 : 1;

/** Returns whether all sizes and counts are within their budgets. */
async function runBenchmark(): Promise<boolean> {
  await using console = await startConsoleUnderTest({ devices, recordings });
  const rows: Row[] = [];
  for (const [name, measure] of chosen) {
    const startedMs = performance.now();
    rows.push(...(await measure(console)));
    say(`${name} in ${((performance.now() - startedMs) / 1000).toFixed(0)} s`);
  }
  return reportRows(rows);
}
