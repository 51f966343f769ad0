// What the agent takes from the robot, beside what it may take (edge agent, footprint):
//
//   npm run bench:agent [-- --files 10000,100000] [--gigabytes 1] [--checkout]
//
// Measures the built program as it is installed; `--checkout` the sources as `npm run agent` runs them. Linux only. Never
// fails for a figure.
import { mkdtemp, rm } from "node:fs/promises";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startCloud, type TestCloud } from "@downlink/cloud/testing";
import Table from "cli-table3";
import { say } from "../report.ts";
import { makeAgent } from "./agent-under-test.ts";
import { installAgent } from "./install-agent.ts";
import { type FilesFigures, measureFiles } from "./measure-files.ts";
import { measureUpload } from "./measure-upload.ts";

const { values } = parseArgs({
  options: {
    files: { type: "string", default: "10000,100000" },
    gigabytes: { type: "string", default: "1" },
    checkout: { type: "boolean", default: false },
    parent: { type: "string", default: "/dev/shm" },
  },
});
const counts = values.files.split(",").filter(Boolean).map(Number);

await using stack = new AsyncDisposableStack();
const folder = await mkdtemp(join(tmpdir(), "downlink-bench-"));
stack.defer(() => rm(folder, { recursive: true, force: true }));
const script = values.checkout ? "agent/src/main.ts" : await installAgent(folder);
const cloud: TestCloud = await startCloud({ after: (close) => stack.defer(close) });
say(`${values.checkout ? "from the checkout" : "as installed"}, on ${cpus().length} × ${cpus()[0]?.model}`);
const measured: FilesFigures[] = [];
for (const files of counts) {
  await using agent = await makeAgent({ cloud, script, parent: values.parent });
  measured.push(await measureFiles(agent, cloud, files));
}
if (measured.length > 0) tellFiles(measured);
if (Number(values.gigabytes) > 0) await tellUpload(Number(values.gigabytes));

function tellFiles(all: readonly FilesFigures[]): void {
  const table = new Table({
    head: ["", ...all.map(({ files }) => `${files} files`), "wanted"],
    style: { head: [], border: [] },
  });
  const row = (name: string, wanted: string, tell: (figures: FilesFigures) => string) =>
    table.push([name, ...all.map(tell), wanted]);
  row("first indexing and reporting", "minutes", ({ firstSeconds }) => `${firstSeconds.toFixed(0)} s`);
  row("  CPU of it", "", ({ firstCpuSeconds }) => `${firstCpuSeconds.toFixed(1)} s`);
  row("  RSS at most", "", ({ peakMB }) => inMB(peakMB));
  row("  RSS 40 s later", "", ({ idleAfterFirstMB }) => inMB(idleAfterFirstMB));
  row("RSS idle", "10,000: 110 MB", ({ idleMB }) => inMB(idleMB));
  row("RSS at most from a restart to its first scan", "", ({ peakStartingMB }) => inMB(peakStartingMB));
  row("RSS at most while rescanning", "100,000: 150 MB", ({ peakRescanningMB }) => inMB(peakRescanningMB));
  row("CPU idle", "1 %", ({ idleCpuPercent }) => `${idleCpuPercent.toFixed(2)} %`);
  row("rescan, nothing changed", "100,000: 2 s", ({ rescanMs }) => `${(rescanMs / 1000).toFixed(2)} s`);
  row("closed until visible, median of 5", "10 s", ({ visibleSeconds }) => `${visibleSeconds.toFixed(1)} s`);
  row("inotify watches", "directories", ({ watches }) => String(watches));
  say(table.toString());
}

async function tellUpload(gigabytes: number): Promise<void> {
  await using agent = await makeAgent({ cloud, script, parent: values.parent });
  const { sizeMB, seconds, rawSeconds, cpuSecondsPerGB, peakMB } = await measureUpload(agent, cloud, gigabytes);
  const rate = (inSeconds: number) => `${(sizeMB / inSeconds).toFixed(0)} MB/s`;
  say(
    `upload of ${sizeMB.toFixed(0)} MB: ${rate(seconds)} with hashing and parts, ${rate(rawSeconds)} by one plain PUT`,
  );
  say(`  ratio ${(rawSeconds / seconds).toFixed(2)}; a link of 1 Gbit/s is 125 MB/s, of which 90 % are wanted`);
  say(`  ${cpuSecondsPerGB.toFixed(1)} CPU seconds for 1 GB; RSS at most ${inMB(peakMB)}, 160 MB wanted`);
}

function inMB(megabytes: number): string {
  return `${megabytes.toFixed(0)} MB`;
}
