import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { findInterface } from "../network/route.ts";
import { judgeWay } from "../network/upload-way.ts";
import { firstHop } from "../network/way-out.ts";
import type { Settings } from "../settings/settings.ts";
import { type Finding, ok, warn } from "./finding.ts";

/** Enough to compare with limits; a tree beyond it is counted no further. */
const MAX_COUNTED = 500_000;
/** Of the limit, others use some too. */
const CAUTIOUS_SHARE = 0.8;
const LEAST_INSTANCES = 16;

/** One watch a directory: whether the system allows so many. */
export async function checkWatchLimits({ storageRoot, usesNotify }: Settings): Promise<Finding[]> {
  const check = "Notifications";
  if (!usesNotify) return [ok(check, "switched off; new files are found by scanning")];
  if (process.platform !== "linux" || storageRoot === undefined) return [];
  const [watches, instances] = await Promise.all([readLimit("max_user_watches"), readLimit("max_user_instances")]);
  if (watches === undefined || instances === undefined) return [];
  const directories = await countDirectories(storageRoot);
  const text = `${directories} directories to watch, fs.inotify.max_user_watches is ${watches}`;
  if (directories > watches * CAUTIOUS_SHARE) {
    const fix = `sysctl fs.inotify.max_user_watches=${directories * 4}, or set DOWNLINK_WATCH_USE_NOTIFY=false to find files by scanning only.`;
    return [warn(check, text, fix)];
  }
  if (instances < LEAST_INSTANCES)
    return [warn(check, `fs.inotify.max_user_instances is ${instances}`, "sysctl fs.inotify.max_user_instances=128")];
  return [ok(check, text)];
}

async function readLimit(name: string): Promise<number | undefined> {
  try {
    return Number(await readFile(`/proc/sys/fs/inotify/${name}`, "utf8"));
  } catch {
    return undefined; // A container may hide it.
  }
}

async function countDirectories(root: string): Promise<number> {
  const waiting = [root];
  let count = 0;
  for (let path = waiting.pop(); path !== undefined && count < MAX_COUNTED; path = waiting.pop()) {
    count += 1;
    const entries = await readdir(path, { withFileTypes: true }).catch(() => []); // What cannot be read is not watched either.
    for (const entry of entries) if (entry.isDirectory()) waiting.push(join(path, entry.name));
  }
  return count;
}

/** Whether uploads may go the way that they would go now. */
export async function checkUploadWay(settings: Settings): Promise<Finding[]> {
  const { apiUrl, uploadInterfaces: rules } = settings;
  if (apiUrl === undefined || rules === undefined) return [];
  const name = await findInterface(firstHop(apiUrl, settings));
  const refusal = await judgeWay(rules, name);
  if (refusal === undefined) return [ok("Interface", `uploads may go through ${name}`)];
  const fix = "They go on over another interface. To allow this one, change DOWNLINK_UPLOAD_INTERFACES.";
  return [warn("Interface", `uploads wait: ${refusal}`, fix)];
}

/** What this user may do says little about what the agent's user may. */
export async function checkUser(agentPid: number | null): Promise<Finding[]> {
  if (agentPid === null || process.getuid === undefined) return [];
  try {
    const { uid } = await stat(`/proc/${agentPid}`);
    if (uid === process.getuid()) return [];
    const text = `the agent runs as user ${uid}, this check as ${process.getuid()}: permissions are this user's`;
    return [warn("User", text, `Run it as the agent's user: \`sudo -u '#${uid}' agent doctor\``)];
  } catch {
    return []; // It ended meanwhile, or there is no /proc.
  }
}
