import { createHash } from "node:crypto";
import { basename } from "node:path";
import { nameWithoutExtension } from "@downlink/recordings";
import type { TrackedFile } from "../inventory/tracked-file.ts";

/** The directory is in the storage root: a salvage is a file like any other. */
export const SALVAGE_DIRECTORY = ".downlink-salvage";

/** The end of the name of a salvage that is being written. */
export const PARTIAL = ".partial";

const pattern = new RegExp(`^${SALVAGE_DIRECTORY.replace(".", "\\.")}/[0-9a-f]{24}/[^/]+\\.mcap$`);

export function isSalvagePath(path: string): boolean {
  return pattern.test(path);
}

/** Returns the path relative to the root. It is the same for the same file, so that an agent that lost its state makes no salvage twice. */
export function salvagePathOf({ path, identity }: Pick<TrackedFile, "path" | "identity">): string {
  const facts = `${path}\0${identity.sizeBytes}\0${identity.mtimeNs}`;
  const id = createHash("sha256").update(facts).digest("hex").slice(0, 24);
  const name = nameWithoutExtension(basename(path)).replaceAll("\\", "_"); // In a path, a backslash may stand for another byte.
  return `${SALVAGE_DIRECTORY}/${id}/${name || "recording"}.mcap`;
}
