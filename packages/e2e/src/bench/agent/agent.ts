// The resources that the agent takes from the robot, beside those that it may take (edge agent, footprint):
//
//   npm run bench:agent [-- --files 10000,100000] [--gigabytes 1] [--cut-gigabytes 2.5] [--checkout] [--only upload|cut] [--rounds 1]
//
// It measures the built program as it is installed, or with `--checkout` the sources as `npm run agent` runs them. With `--only upload` it
// measures nothing but uploads over a link without a limit, and with `--only cut` nothing but parts of a large file, as many as `--rounds`
// says. It runs on Linux only, and never fails for a figure.

import { cpus } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startControlPlane } from "../../processes/control-plane.ts";
import { makeFolderUntilExit } from "../../processes/folder-until-exit.ts";
import { type OwnNetwork, openOwnNetwork } from "../../processes/own-network.ts";
import { makeTable } from "../../terminal/make-table.ts";
import { say } from "../report.ts";
import { makeAgent } from "./agent-under-test.ts";
import { installAgent } from "./install-agent.ts";
import { type CutFigures, measureCut } from "./measure-cut.ts";
import { type FilesFigures, measureFiles } from "./measure-files.ts";
import { measureLimited } from "./measure-limited.ts";
import { type CpuSeconds, measureUpload, type UploadFigures } from "./measure-upload.ts";

const { values } = parseArgs({
  options: {
    files: { type: "string", default: "10000,100000" },
    gigabytes: { type: "string", default: "1" },
    "cut-gigabytes": { type: "string", default: "2.5" },
    checkout: { type: "boolean", default: false },
    parent: { type: "string", default: "/dev/shm" },
    disk: { type: "string", default: "/var/tmp" },
    only: { type: "string" },
    rounds: { type: "string", default: "1" },
  },
});
/** The time for which a link is fully used, so long that its beginning does not matter. */
const LINK_SECONDS = 10;
const isUploadAlone = values.only === "upload";
const counts = values.only ? [] : values.files.split(",").filter(Boolean).map(Number);

await using stack = new AsyncDisposableStack();
const folder = makeFolderUntilExit(values.parent, "downlink-bench-");
const script = values.checkout ? "agent/src/main.ts" : await installAgent(folder);
const installed = { script, parent: values.parent, keepsCompiled: values.checkout };
const network = await openNetwork();
const env = { DOWNLINK_HOST: network?.addresses[0] ?? "127.0.0.1" };
const cloud = stack.use(await startControlPlane({ dataDir: join(folder, "cloud"), env }));
say(`${values.checkout ? "from the checkout" : "as installed"}, on ${cpus().length} × ${cpus()[0]?.model}`);
const measured: FilesFigures[] = [];
for (const files of counts) {
  await using agent = await makeAgent({ cloud, ...installed });
  measured.push(await measureFiles(agent, cloud, files));
}
if (measured.length > 0) printFiles(measured);
if (counts.length > 0) await reportLimited(Math.max(...counts));
if (values.only !== "upload") await reportCuts(Number(values["cut-gigabytes"]));
if (values.only !== "cut" && Number(values.gigabytes) > 0) await reportUploads(Number(values.gigabytes));

function printFiles(all: readonly FilesFigures[]): void {
  const table = makeTable(["", ...all.map(({ files }) => `${files} files`), "wanted"]);
  const row = (name: string, wanted: string, show: (figures: FilesFigures) => string) =>
    table.push([name, ...all.map(show), wanted]);
  row("first indexing and reporting", "minutes", ({ firstSeconds }) => `${firstSeconds.toFixed(0)} s`);
  row("  CPU of it", "", ({ firstCpuSeconds }) => `${firstCpuSeconds.toFixed(1)} s`);
  row("  RSS at most", "", ({ peakMB }) => inMB(peakMB));
  row("  RSS 40 s later", "", ({ idleAfterFirstMB }) => inMB(idleAfterFirstMB));
  row("RSS idle", "10,000: 110 MB", ({ idleMB }) => inMB(idleMB));
  row("RSS at most from a restart to its first scan", "", ({ peakStartingMB }) => inMB(peakStartingMB));
  row("RSS at most while rescanning", "100,000: 150 MB", ({ peakRescanningMB }) => inMB(peakRescanningMB));
  row("CPU idle", "1 %", ({ idleCpuPercent }) => `${idleCpuPercent.toFixed(2)} %`);
  row("rescan, nothing changed", "100,000: 2 s", ({ rescanMs }) => `${(rescanMs / 1000).toFixed(2)} s`);
  row(
    "chmod -R of all: the scan that hears of it",
    "a rescan",
    ({ touched }) => `${(touched.scanMs / 1000).toFixed(2)} s`,
  );
  row("  CPU of it", "", ({ touched }) => `${touched.cpuSeconds.toFixed(1)} s`);
  row("  read, written", "no content", ({ touched }) => `${inMB(touched.readMB)}, ${inMB(touched.writtenMB)}`);
  row("  RSS at most", "", ({ touched }) => inMB(touched.peakMB));
  row("closed until visible, median of 5", "10 s", ({ visibleSeconds }) => `${visibleSeconds.toFixed(1)} s`);
  row("inotify watches", "directories", ({ watches }) => String(watches));
  say(table.toString());
}

async function reportCuts(gigabytes: number): Promise<void> {
  for (let round = 0; gigabytes > 0 && round < Number(values.rounds); round += 1)
    printCut(await measureCut(installed, join(folder, `cut-cloud-${round}`), gigabytes));
}

function printCut({ fileMB, cutMB, copySeconds, ...figures }: CutFigures): void {
  const {
    cutSeconds,
    indexedSeconds,
    firstByteSeconds,
    importedSeconds,
    readMB,
    chunksMB,
    rssGrowthMB,
    cutCpuSeconds,
    cutRssGrowthMB,
  } = figures;
  say(`a part of ${cutMB.toFixed(0)} MB, 40 s of a file of ${fileMB.toFixed(0)} MB, after its request:`);
  say(
    `  first byte sent after ${firstByteSeconds.toFixed(2)} s, 2 s wanted: cut after ${cutSeconds.toFixed(2)} s (CPU ${cutCpuSeconds.toFixed(2)} s),`,
  );
  say(`    indexed after ${indexedSeconds.toFixed(2)} s; imported after ${importedSeconds.toFixed(1)} s`);
  say(
    `  a plain copy of as many bytes takes ${copySeconds.toFixed(2)} s, ${(cutSeconds / copySeconds).toFixed(1)} times less than the cut`,
  );
  say(
    `  read for it ${inMB(readMB)}, ${inMB(2 * chunksMB + 2)} wanted; RSS grew by ${inMB(cutRssGrowthMB)} at most, 64 MB wanted, and by ${inMB(rssGrowthMB)} with the upload`,
  );
}

/** Measures with the unit's limit, and with a fifth less memory, over a disk, because a state in memory would count as memory. */
async function reportLimited(files: number): Promise<void> {
  await using agent = await makeAgent({ cloud, ...installed, parent: values.disk });
  const { limitMB, seconds, kills } = await measureLimited(agent, files);
  const outcome = kills === 0 ? `done in ${seconds.toFixed(0)} s` : `killed after ${seconds.toFixed(0)} s`;
  say(`first indexing of ${files} files with ${inMB(limitMB)} of memory, a fifth less than the unit's: ${outcome}`);
}

/** Opens a network whose link the kernel slows down: a link between programs would take time of what is measured. */
async function openNetwork(): Promise<OwnNetwork | undefined> {
  try {
    return stack.use(await openOwnNetwork(join(folder, "resolv.conf")));
  } catch (error) {
    say(`no links of a given speed can be had here: ${(error as Error).message}`);
    return undefined;
  }
}

/** Measures over links that are slower than both ends, each for so many seconds, and at last over one without a limit. */
async function reportUploads(gigabytes: number): Promise<void> {
  for (const megabits of network && !isUploadAlone ? [10, 100, 400, 1000] : []) {
    const bytesPerSecond = megabits * 125_000;
    const sizeMB = Math.min(gigabytes * 1000, (bytesPerSecond * LINK_SECONDS) / 1e6);
    const { seconds, rawSeconds, ...figures } = await uploadOver(bytesPerSecond, sizeMB);
    const share = (inSeconds: number) => `${((figures.sizeMB * 1e8) / bytesPerSecond / inSeconds).toFixed(0)} %`;
    say(
      `upload over ${megabits} Mbit/s: ${share(seconds)} of the link, ${share(rawSeconds)} by one plain PUT; 90 % wanted; imported ${figures.importSeconds.toFixed(1)} s later`,
    );
  }
  for (let round = 0; round < Number(values.rounds); round += 1)
    printUpload(await uploadOver(Infinity, gigabytes * 1000));
}

function printUpload({ sizeMB, seconds, rawSeconds, ...figures }: UploadFigures): void {
  const rate = (inSeconds: number) => `${(sizeMB / inSeconds).toFixed(0)} MB/s`;
  const cpu = ({ total, system }: CpuSeconds) => `${total.toFixed(2)} s (the kernel's: ${system.toFixed(2)})`;
  const { agentCpu, receivingCpu, rawReceivingCpu, importingCpu, importSeconds, peakMB } = figures;
  say(
    `upload of ${sizeMB.toFixed(0)} MB as fast as both ends are: ${rate(seconds)} with hashing and parts, ${rate(rawSeconds)} by one plain PUT`,
  );
  say(`  ratio ${(rawSeconds / seconds).toFixed(2)}, 0.9 wanted; a link of 1 Gbit/s is 125 MB/s`);
  say(`  the agent: ${cpu(agentCpu)} of CPU time for 1 GB; RSS at most ${inMB(peakMB)}, 160 MB wanted`);
  say(`  the control plane, for 1 GB, 6 s wanted: receiving ${cpu(receivingCpu)},`);
  say(
    `    importing ${cpu(importingCpu)} within ${importSeconds.toFixed(1)} s; receiving by one plain PUT ${cpu(rawReceivingCpu)}`,
  );
}

async function uploadOver(bytesPerSecond: number, sizeMB: number): Promise<UploadFigures> {
  await network?.limit(bytesPerSecond);
  const within = network?.within;
  await using agent = await makeAgent({ cloud, within, ...installed });
  return await measureUpload(agent, { cloud, within }, sizeMB);
}

function inMB(megabytes: number): string {
  return `${megabytes.toFixed(0)} MB`;
}
