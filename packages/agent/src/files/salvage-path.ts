import { createHash } from "node:crypto";
import { basename } from "node:path";
import type { TrackedFile } from "../inventory/tracked-file.ts";

/** In the storage root: what was salvaged is a file like any other. */
export const SALVAGE_DIRECTORY = ".downlink-salvage";

/** Ends the name of a salvage that is being written. */
export const PARTIAL = ".partial";

const pattern = new RegExp(`^${SALVAGE_DIRECTORY.replace(".", "\\.")}/[0-9a-f]{24}/[^/]+\\.mcap$`);

export function isSalvagePath(path: string): boolean {
  return pattern.test(path);
}

/** Below the root. The same for the same file, also for an agent that lost its state: what is there already is not made again. */
export function salvagePathOf({ path, identity }: Pick<TrackedFile, "path" | "identity">): string {
  const facts = `${path}\0${identity.sizeBytes}\0${identity.mtimeNs}`;
  const id = createHash("sha256").update(facts).digest("hex").slice(0, 24);
  const name = basename(path)
    .replace(/(\.(mcap|bag|active))+$/i, "")
    .replaceAll("\\", "_"); // In a path it may stand for another byte.
  return `${SALVAGE_DIRECTORY}/${id}/${name || "recording"}.mcap`;
}
