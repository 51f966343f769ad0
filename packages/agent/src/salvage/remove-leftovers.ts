import { readdir, rm } from "node:fs/promises";
import { isInside, isMissing, type Storage } from "../files/open-tracked.ts";
import { PARTIAL, SALVAGE_DIRECTORY } from "../files/salvage-path.ts";

/** Removes salvages during which the agent was killed. No other file is touched. */
export async function removeLeftovers(storage: Storage): Promise<void> {
  for (const id of await namesIn(storage, SALVAGE_DIRECTORY)) {
    const directory = `${SALVAGE_DIRECTORY}/${id}`;
    const partials = (await namesIn(storage, directory)).filter((name) => name.endsWith(PARTIAL));
    for (const name of partials) await rm(`${storage.root}/${directory}/${name}`, { force: true });
  }
}

async function namesIn(storage: Storage, path: string): Promise<string[]> {
  try {
    return (await isInside(storage, path)) ? await readdir(`${storage.root}/${path}`) : [];
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}
