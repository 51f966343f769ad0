import { cp, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { findTestObjects } from "./test-objects.ts";

/** Copies all that the control plane with this data folder has stored. Returns what sets its store back to that copy, once. */
export async function copyStore(dataDir: string): Promise<() => Promise<void>> {
  const stored = await findTestObjects(dataDir);
  if (!stored) return copyFiles(folderOf(dataDir));
  await stored.copyAway();
  return async () => {
    await stored.removeObjects();
    await stored.copyBack();
  };
}

/** Removes all that the control plane with this data folder has stored. */
export async function emptyStore(dataDir: string): Promise<void> {
  const stored = await findTestObjects(dataDir);
  if (!stored) return rm(folderOf(dataDir), { recursive: true });
  await stored.removeObjects();
}

async function copyFiles(folder: string): Promise<() => Promise<void>> {
  const copy = `${folder}.backup`;
  await cp(folder, copy, { recursive: true });
  return async () => {
    await rm(folder, { recursive: true });
    await rename(copy, folder);
  };
}

function folderOf(dataDir: string): string {
  return join(dataDir, "objects");
}
