import type { Recording } from "@downlink/protocol";
import { formatDuration } from "../time/format-time.ts";
import { formatMany } from "./bytes.ts";
import { showHidden } from "./show-hidden.ts";

interface Part {
  readonly topics: readonly string[];
  readonly start: bigint;
  readonly end: bigint;
}

/** More names would hide the rest of a line. */
const NAMED = 3;

/** Says how much of a recording a part is: `4 topics, 40 s`. */
export function describePart({ topics, start, end }: Part): string {
  return `${formatMany(topics.length, "topic")}, ${formatDuration(end - start)}`;
}

/** Names few topics, and counts many. */
export function nameTopics(topics: readonly string[]): string {
  return topics.length > NAMED ? formatMany(topics.length, "topic") : topics.map(showHidden).join(", ");
}

/** The folder of a part on its device: it is the same for all, and hides the name of the file where there is little room. */
const PART_FOLDER = /^\.downlink-cuts\/[^/]+\//;

/** Returns the path of a recording as lists show it: that of a part is the path of its whole recording. */
export function shownPath({ id, path, cutOf }: Pick<Recording, "id" | "path" | "cutOf">): string {
  return (cutOf ? path.replace(PART_FOLDER, "") : path) || id;
}
