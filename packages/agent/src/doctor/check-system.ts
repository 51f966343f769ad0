import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { findInterface } from "../network/route.ts";
import { judgeWay } from "../network/upload-way.ts";
import { firstHop } from "../network/way-out.ts";
import type { Settings } from "../settings/settings.ts";
import { type Finding, ok, warn } from "./finding.ts";

/** The count stops here, because it is enough to compare with the limits. */
const MAX_COUNTED = 500_000;
/** Other programs use a part of the limit too. */
const CAUTIOUS_SHARE = 0.8;
const LEAST_INSTANCES = 16;

/** Checks whether the system allows one watch per directory. */
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
    return undefined; // A container may hide the limit.
  }
}

async function countDirectories(root: string): Promise<number> {
  const waiting = [root];
  let count = 0;
  for (let path = waiting.pop(); path !== undefined && count < MAX_COUNTED; path = waiting.pop()) {
    count += 1;
    const entries = await readdir(path, { withFileTypes: true }).catch(() => []); // A directory that cannot be read is not watched either.
    for (const entry of entries) if (entry.isDirectory()) waiting.push(join(path, entry.name));
  }
  return count;
}

/** Checks whether uploads may take the way that they would take now. */
export async function checkUploadWay(settings: Settings): Promise<Finding[]> {
  const { apiUrl, uploadInterfaces: rules } = settings;
  if (apiUrl === undefined || rules === undefined) return [];
  const name = await findInterface(firstHop(apiUrl, settings));
  const refusal = await judgeWay(rules, name);
  if (refusal === undefined) return [ok("Interface", `uploads may go through ${name}`)];
  const fix = "They go on over another interface. To allow this one, change DOWNLINK_UPLOAD_INTERFACES.";
  return [warn("Interface", `uploads wait: ${refusal}`, fix)];
}

/** Compares the users, because the rights of this user say little about those of the agent's user. */
export async function checkUser(agentPid: number | null): Promise<Finding[]> {
  if (agentPid === null || process.getuid === undefined) return [];
  try {
    const { uid } = await stat(`/proc/${agentPid}`);
    if (uid === process.getuid()) return [];
    const text = `the agent runs as user ${uid}, this check as ${process.getuid()}: permissions are this user's`;
    return [warn("User", text, `Run it as the agent's user: \`sudo -u '#${uid}' agent doctor\``)];
  } catch {
    return []; // The agent ended meanwhile, or there is no /proc.
  }
}
