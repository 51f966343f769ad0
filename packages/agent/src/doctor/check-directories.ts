import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { access, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { formatBytes } from "@downlink/terminal/amounts";
import { problemTexts } from "../diagnostics/problems.ts";
import { readMarker } from "../files/root-marker.ts";
import type { Settings } from "../settings/settings.ts";
import { readOwnerFile } from "../state/owner.ts";
import { measureDisk } from "../system/measure-disk.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

/** The state needs some megabytes; with less, nothing can be recorded any more. */
const LEAST_STATE_BYTES = 50e6;
const LOW_SHARE = 0.05;

export async function checkStateDir({ stateDir }: Pick<Settings, "stateDir">): Promise<Finding[]> {
  const check = "State directory";
  const fix = `Give the agent's user write permission for ${stateDir}, or set DOWNLINK_STATE_DIR.`;
  try {
    await access(stateDir);
  } catch {
    return [warn(check, `${stateDir} does not exist yet`, "`agent enroll` and `agent run` make it.")];
  }
  const refusal = await tryWriting(stateDir);
  if (refusal !== undefined) return [fail(check, `${stateDir} cannot be written: ${refusal}`, fix)];
  return [ok(check, `${stateDir} can be written`), ...(await checkSpace("State disk", stateDir, LEAST_STATE_BYTES))];
}

export async function checkStorageRoot({ storageRoot, stateDir }: Settings): Promise<Finding[]> {
  const check = "Storage root";
  if (storageRoot === undefined)
    return [
      fail(
        check,
        "DOWNLINK_STORAGE_ROOT is not set",
        "Run `agent enroll --url URL --storage-root DIR --token-file FILE`.",
      ),
    ];
  try {
    if (!(await stat(storageRoot)).isDirectory())
      return [
        fail(check, `${storageRoot} is not a directory`, "Set DOWNLINK_STORAGE_ROOT to the recordings' directory."),
      ];
    await readdir(storageRoot);
  } catch (error) {
    const fix = "Mount it, give the agent's user read permission, or correct DOWNLINK_STORAGE_ROOT.";
    return [fail(check, `${storageRoot} cannot be read: ${(error as Error).message}`, fix)];
  }
  return [
    ok(check, `${storageRoot} can be read`),
    await checkMarker(storageRoot, stateDir),
    await checkDeletable(storageRoot),
    ...(await checkSpace("Storage disk", storageRoot, 0)),
  ];
}

async function checkMarker(root: string, stateDir: string): Promise<Finding> {
  const check = "Root marker";
  const [there, enrolled] = [await readMarker(root), readOwnerFile(stateDir).rootMarkerId];
  if (enrolled === undefined)
    return warn(check, "no root is enrolled with this state directory yet", "Run `agent enroll`.");
  if (there === enrolled) return ok(check, "it is the enrolled root");
  const is = there === undefined ? "has no marker" : "holds the marker of another root";
  const { fix } = problemTexts.StorageMissing;
  return fail(check, `${root} ${is}: nothing is reported as gone, and nothing is deleted`, fix);
}

/** Makes and deletes a file of the agent's own; recordings stay as they are. */
async function checkDeletable(root: string): Promise<Finding> {
  const check = "Deleting";
  const refusal = await tryWriting(root);
  if (refusal === undefined) return ok(check, "files in the root can be deleted");
  const fix = `Give the agent's user write permission for ${root}; without it auto-delete and retention do nothing.`;
  return warn(check, `files in ${root} cannot be deleted: ${refusal}`, fix);
}

async function tryWriting(directory: string): Promise<string | undefined> {
  const probe = join(directory, `.downlink-probe-${randomUUID()}`);
  try {
    await access(directory, constants.W_OK | constants.X_OK);
    await writeFile(probe, "");
    await rename(probe, `${probe}-renamed`);
    await rm(`${probe}-renamed`);
    return undefined;
  } catch (error) {
    await rm(probe, { force: true }).catch(() => {}); // Where writing is forbidden, this may be too; the finding says so already.
    return (error as Error).message;
  }
}

async function checkSpace(check: string, directory: string, leastBytes: number): Promise<Finding[]> {
  const disk = await measureDisk(directory);
  if (!disk) return [];
  const text = `${formatBytes(disk.freeBytes)} of ${formatBytes(disk.totalBytes)} free`;
  const fix = "Free space, or let the agent do it: auto-delete after import, retention, DOWNLINK_MIN_FREE_BYTES.";
  if (disk.freeBytes < leastBytes) return [fail(check, text, fix)];
  return [disk.freeBytes < disk.totalBytes * LOW_SHARE ? warn(check, text, fix) : ok(check, text)];
}
