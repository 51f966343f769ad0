// Imports one huge file into a control plane of its own: node packages/e2e/src/big/main.ts [--gigabytes 50]
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { api } from "@downlink/protocol";
import { startControlPlane } from "../processes/control-plane.ts";
import { importZeros } from "./import-zeros.ts";

const { values } = parseArgs({ options: { gigabytes: { type: "string", default: "50" } } });
const dataDir = await mkdtemp(join(tmpdir(), "downlink-big-"));
try {
  await using cloud = await startControlPlane({ dataDir });
  const figures = await importZeros(cloud, Number(values.gigabytes) * 1e9, "big");
  const recording = await cloud.admin.call(api.recordings.get, { keyOrId: "big" });
  const perSecond = (seconds: number) => `${seconds.toFixed(1)} s, ${inMB(figures.sizeBytes / seconds)}/s`;
  console.log(`file       ${inMB(recording.size)}, ${figures.messageCount} messages`);
  console.log(`upload     ${perSecond(figures.uploadSeconds)}`);
  console.log(`import     ${perSecond(figures.importSeconds)}`);
  console.log(`memory     ${inMB(figures.beforeBytes)} before, ${inMB(figures.peakBytes)} at most`);
  console.log(`on disk    ${inMB(await allocatedBelow(join(dataDir, "objects")))}`);
} finally {
  await rm(dataDir, { recursive: true, force: true });
}

async function allocatedBelow(directory: string): Promise<number> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const blocks = await Promise.all(
    files.map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).blocks),
  );
  return blocks.reduce((sum, count) => sum + count * 512, 0);
}

function inMB(bytes: number): string {
  return `${Math.round(bytes / 1e6).toLocaleString("en-US")} MB`;
}
