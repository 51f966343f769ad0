import { randomUUID } from "node:crypto";
import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { readMarker } from "../files/root-marker.ts";
import { InvalidSettingError } from "../settings/invalid-setting-error.ts";
import { lockStateDir } from "../state/lock.ts";
import { StateRefusedError } from "../state/state-errors.ts";
import { describeSystemError } from "../system/system-error.ts";

export interface EnrolmentPlaces {
  readonly configFile: string;
  readonly stateDir: string;
  readonly root: string;
}

/**
 * Checks that everything an enrolment writes can be written; no trace of the checks stays. The messages of
 * {@link InvalidSettingError} and {@link StateRefusedError} say what to do.
 */
export async function checkPlaces({ configFile, stateDir, root }: EnrolmentPlaces): Promise<void> {
  refuse(
    tryWritingBelow(dirname(configFile)),
    (why) =>
      `the settings cannot be written to ${configFile}: ${why}. Do this as root, or name places that you may write: --config FILE --state-dir DIR`,
  );
  if (existsSync(configFile) && !statSync(configFile).isFile())
    throw new InvalidSettingError(`${configFile} is not a file; name one with --config FILE`);
  refuse(
    tryWritingBelow(stateDir),
    (why) =>
      `the state directory ${stateDir} cannot be made or written: ${why}. Do this as root or as the agent's user, or name another with --state-dir DIR`,
  );
  checkNobodyRuns(stateDir);
  await checkRoot(root);
}

function refuse(why: string | undefined, describe: (why: string) => string): void {
  if (why !== undefined) throw new InvalidSettingError(describe(why));
}

/** Returns why no file can be made in the directory, or in the nearest existing one above, where the missing ones would be made. */
function tryWritingBelow(directory: string): string | undefined {
  const there = nearestThere(directory);
  const probe = join(there, `.downlink-probe-${randomUUID()}`);
  try {
    writeFileSync(probe, "");
    rmSync(probe);
    return undefined;
  } catch (error) {
    const why = describeSystemError(error);
    return there === directory ? why : `${why} in ${there}`;
  }
}

export function nearestThere(path: string): string {
  return existsSync(path) || path === "/" ? path : nearestThere(dirname(path));
}

function checkNobodyRuns(stateDir: string): void {
  if (!existsSync(join(stateDir, "agent.lock"))) return;
  try {
    lockStateDir(stateDir)[Symbol.dispose]();
  } catch (error) {
    if (!(error instanceof StateRefusedError)) throw error;
    throw new StateRefusedError(
      `${error.message}. Stop it, do this again, and start it again; a service: \`systemctl stop downlink-agent\`, and afterwards \`systemctl start downlink-agent\``,
    );
  }
}

/** A root that has its marker already may be read-only. */
async function checkRoot(root: string): Promise<void> {
  if (root === "/")
    throw new InvalidSettingError(
      "the storage root / is the whole machine, whose files are not all the agent's. Name the directory with the recordings with --storage-root DIR",
    );
  const fix = "Mount it, or name the directory with the recordings with --storage-root DIR";
  try {
    if (!statSync(root).isDirectory())
      throw new InvalidSettingError(`the storage root ${root} is not a directory. Name one with --storage-root DIR`);
    readdirSync(root);
  } catch (error) {
    if (error instanceof InvalidSettingError) throw error;
    throw new InvalidSettingError(`the storage root ${root} cannot be used: ${describeSystemError(error)}. ${fix}`);
  }
  if ((await readMarker(root)) !== undefined) return;
  refuse(
    tryWritingBelow(root),
    (why) =>
      `the agent's marker cannot be written into the storage root ${root}: ${why}. Mount it writable, or give this user write permission`,
  );
}
