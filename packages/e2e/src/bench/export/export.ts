// How fast exports are, as ratios to a reference in the same run, each in a process of its own:
//
//   npm run bench:export [-- --scale 0.1] [--runs 3] [--folder /dev/shm] [--only "small topic"] [--peer library]
//   npm run bench:export -- --only "by topic"           one topic from its file at a site that splits
//   npm run bench:export -- --only http                 through a control plane, beside a plain download
//   npm run bench:export -- --huge [--gigabytes 50]     memory for a source that is larger than it
//
// The reference of partial exports is a program in C++ where it can be built, else the MCAP library in JavaScript.
// Prints tables; fails where an export is not what its reference wrote, never for a time.
import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { writeDrive } from "@downlink/recordings/testing";
import { makeFolderUntilExit } from "../../processes/folder-until-exit.ts";
import { say } from "../report.ts";
import { buildPeer } from "./build-peer.ts";
import { byTopicName, measureByTopic } from "./by-topic.ts";
import { type Case, casesOf, type Reference } from "./cases.ts";
import type { Measured } from "./child.ts";
import { digestByChild, indexByChild, measureChild, measurePeer } from "./measure-child.ts";
import { httpName, measureOverHttp } from "./over-http.ts";
import { type Result, reportCases, reportEight, reportHuge } from "./report-exports.ts";

const { values } = parseArgs({
  options: {
    scale: { type: "string", default: "1" },
    runs: { type: "string", default: "3" },
    folder: { type: "string", default: "/dev/shm" },
    only: { type: "string", default: "" },
    peer: { type: "string", default: "cpp" },
    huge: { type: "boolean", default: false },
    gigabytes: { type: "string", default: "50" },
  },
});
if (values.peer !== "cpp" && values.peer !== "library") throw new Error(`--peer ${values.peer}: cpp or library`);
const warmScale = 0.1;
const eightName = "8 exports at once";
const isWanted = (name: string): boolean => name.includes(values.only);
const [scale, runs] = [Number(values.scale), Number(values.runs)];
if (values.huge) await measureHuge(Number(values.gigabytes) * 1e9);
else await measureAll(makeFolderUntilExit(values.folder, "downlink-bench-"));

async function measureAll(folder: string): Promise<void> {
  try {
    const cases = casesOf(scale).filter(({ name }) => isWanted(name));
    if (cases.length > 0 || isWanted(eightName) || isWanted(byTopicName)) await measureFiles(folder, cases);
    if (isWanted(httpName)) await measureOverHttp({ folder, scale, runs });
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function measureFiles(folder: string, cases: readonly Case[]): Promise<void> {
  const peer = values.peer === "cpp" ? await buildPeer() : undefined;
  const needed = new Set(cases.map(({ file }) => file).concat("sensors-zstd"));
  for (const file of needed) {
    await makeFile(pathOf(folder, file), file, scale);
    await makeFile(warmPathOf(folder, file), file, warmScale);
  }
  say(`made the recordings and their indexes at scale ${scale}; each measurement is the median of ${runs}`);
  say("threads run before the clock starts, as in a server; cold: they start with the export");
  const results: Result[] = [];
  for (const each of cases) results.push(await measureCase(each, folder, peer));
  if (results.length > 0) reportCases(results);
  if (isWanted(eightName)) {
    const job = { from: pathOf(folder, "sensors-zstd"), to: join(folder, "out"), compression: "lz4" } as const;
    reportEight(await measureChild({ ...job, what: "export8" }));
  }
  if (isWanted(byTopicName)) {
    const file = "sensors-zstd";
    await measureByTopic({ from: pathOf(folder, file), warmBy: warmPathOf(folder, file), folder, runs });
  }
  for (const file of needed) await rm(pathOf(folder, file));
}

async function makeFile(path: string, file: Case["file"], scale: number): Promise<void> {
  const [kind, compression] = file.split("-") as ["sensors" | "small", "zstd" | "none"];
  await writeDrive(path, { kind, compression: compression === "none" ? "" : compression, scale });
  await indexByChild(path);
}

/** Reference and export run by turns, so that other load of the machine affects both. */
async function measureCase(each: Case, folder: string, peer: string | undefined): Promise<Result> {
  const { compression, selection } = each;
  const reference = toReference(each, peer);
  const { topics, startNs, endNs } = selection;
  const times = { startNs: startNs?.toString(), endNs: endNs?.toString() };
  const job = { from: pathOf(folder, each.file), to: join(folder, "out"), compression, topics, ...times };
  const mostRatio = each.mostRatio[reference] ?? Number.POSITIVE_INFINITY;
  const measured: Result = { ...each, reference, mostRatio, references: [], exports: [], coldExports: [] };
  const measureReference = (): Promise<Measured> =>
    reference === "cpp" ? measurePeer(peer!, job, each.peerReads) : measureChild({ ...job, what: reference });
  const warmBy = warmPathOf(folder, each.file);
  for (let run = 0; run < runs; run += 1) {
    const written: unknown[] = [];
    for (const [results, measure] of [
      [measured.references, measureReference],
      [measured.exports, () => measureChild({ ...job, what: "export", warmBy })],
      [measured.coldExports, () => measureChild({ ...job, what: "export" })],
    ] as const) {
      results.push(await measure());
      if (run === 0) written.push(await digestByChild(job.to));
      await rm(job.to);
    }
    for (const digest of written)
      assert.deepEqual(digest, written[0], `${each.name}: not the messages of the reference`);
  }
  return measured;
}

function toReference(each: Case, peer: string | undefined): Reference {
  if (each.reference === "cp") return "cp";
  return peer === undefined ? "library" : "cpp";
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

/** A tenth of the recording is enough: a server that has exported so much has compiled what it needs. */
function warmPathOf(folder: string, file: string): string {
  return pathOf(folder, `${file}-warm`);
}
