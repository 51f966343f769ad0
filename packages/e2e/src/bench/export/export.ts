// How fast exports are, as ratios to a reference in the same run, each in a process of its own:
//
//   npm run bench:export [-- --scale 0.1] [--runs 3] [--folder /dev/shm] [--only "small topic"]
//   npm run bench:export -- --huge [--gigabytes 50]     memory for a source that is larger than it
//
// Prints tables; never fails for a time.
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { writeDrive } from "@downlink/recordings/testing";
import { say } from "../report.ts";
import { type Case, casesOf } from "./cases.ts";
import { measureChild } from "./measure-child.ts";
import { type Result, reportCases, reportEight, reportHuge } from "./report-exports.ts";

const { values } = parseArgs({
  options: {
    scale: { type: "string", default: "1" },
    runs: { type: "string", default: "3" },
    folder: { type: "string", default: "/dev/shm" },
    only: { type: "string", default: "" },
    huge: { type: "boolean", default: false },
    gigabytes: { type: "string", default: "50" },
  },
});
const eightName = "8 exports at once";
if (values.huge) await measureHuge(Number(values.gigabytes) * 1e9);
else await measureAll({ scale: Number(values.scale), runs: Number(values.runs), parent: values.folder });

async function measureAll({ scale, runs, parent }: { scale: number; runs: number; parent: string }): Promise<void> {
  const folder = await mkdtemp(join(parent, "downlink-bench-"));
  try {
    for (const kind of ["sensors", "small"] as const) {
      for (const compression of ["zstd", ""] as const) {
        await writeDrive(pathOf(folder, `${kind}-${compression || "none"}`), { kind, compression, scale });
      }
    }
    say(`made the recordings at scale ${scale}; each measurement is the median of ${runs}`);
    const results: Result[] = [];
    const cases = casesOf(scale).filter(({ name }) => name.includes(values.only));
    for (const each of cases) results.push(await measureCase(each, folder, runs));
    reportCases(results);
    if (!eightName.includes(values.only)) return;
    const to = join(folder, "out");
    reportEight(await measureChild({ what: "export8", from: pathOf(folder, "sensors-zstd"), to, compression: "lz4" }));
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Reference and export take turns, so that what else the machine does meets both. */
async function measureCase(each: Case, folder: string, runs: number): Promise<Result> {
  const { compression, reference, selection } = each;
  const { topics, startNs, endNs } = selection;
  const to = join(folder, "out");
  const times = { startNs: startNs?.toString(), endNs: endNs?.toString() };
  const job = { from: pathOf(folder, each.file), to, compression, topics, ...times };
  const measured: Result = { ...each, references: [], exports: [] };
  for (let run = 0; run < runs; run += 1) {
    measured.references.push(await measureChild({ ...job, what: reference }));
    await rm(to);
    measured.exports.push(await measureChild({ ...job, what: "export" }));
    await rm(to);
  }
  return measured;
}

async function measureHuge(hugeBytes: number): Promise<void> {
  for (const [name, topics] of [
    ["as it is", undefined],
    ["without one topic", ["/even"]],
  ] as const) {
    const job = { what: "huge", from: "", to: "", compression: "", topics, hugeBytes } as const;
    reportHuge(`${hugeBytes / 1e9} GB ${name}`, await measureChild(job));
  }
}

function pathOf(folder: string, file: string): string {
  return join(folder, `${file}.mcap`);
}
