// Files that the agent makes are below one of these directories of the storage root, each in a directory of its own.

import { createHash } from "node:crypto";
import { basename } from "node:path";
import { nameWithoutExtension } from "@downlink/recordings";
import type { TrackedFile } from "../inventory/tracked-file.ts";

/** Holds the readable content of damaged files. */
export const SALVAGE_DIRECTORY = ".downlink-salvage";
/** Holds parts of files that were asked for. */
export const CUT_DIRECTORY = ".downlink-cuts";

/** The end of the name of a file that is being written. */
export const PARTIAL = ".partial";

const pattern = /^\.downlink-(salvage\/[0-9a-f]{24}|cuts\/[\w-]{1,64})\/[^/]+\.mcap$/;

/** Says whether a path is below one of the directories, whatever it is. */
export function isInMadeDirectory(path: string): boolean {
  return path.startsWith(`${SALVAGE_DIRECTORY}/`) || path.startsWith(`${CUT_DIRECTORY}/`);
}

export function isMadePath(path: string): boolean {
  return pattern.test(path);
}

/** Returns the path of a salvage. It is the same for the same file, so that an agent that lost its state makes no salvage twice. */
export function salvagePathOf({ path, identity }: Pick<TrackedFile, "path" | "identity">): string {
  const facts = `${path}\0${identity.sizeBytes}\0${identity.mtimeNs}`;
  const id = createHash("sha256").update(facts).digest("hex").slice(0, 24);
  return `${SALVAGE_DIRECTORY}/${id}/${madeName(path)}`;
}

/** Returns the path of a cut, which is that of its request. Throws a RangeError for an id that makes no name of a directory. */
export function cutPathOf({ path }: Pick<TrackedFile, "path">, requestId: string): string {
  const cut = `${CUT_DIRECTORY}/${requestId}/${madeName(path)}`;
  if (!isMadePath(cut)) throw new RangeError(`${JSON.stringify(requestId)} cannot be the name of a directory`);
  return cut;
}

/** Returns the name of a file that is made of another one. In a path, a backslash may stand for another byte. */
function madeName(path: string): string {
  return `${nameWithoutExtension(basename(path)).replaceAll("\\", "_") || "recording"}.mcap`;
}
