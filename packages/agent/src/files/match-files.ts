import { compileGlobs } from "@downlink/protocol/globs";
import { recordingFormatOf } from "@downlink/recordings";
import { isSalvagePath, SALVAGE_DIRECTORY } from "./salvage-path.ts";

/** Whether a path below the root names a file the agent is for: included, not excluded, of a format it knows; or a salvage. */
export function matchFiles(globs: {
  readonly include: readonly string[];
  readonly exclude: readonly string[];
}): (path: string) => boolean {
  const isIncluded = compileGlobs(globs.include);
  const isExcluded = compileGlobs(globs.exclude);
  return (path) => {
    if (path.startsWith(`${SALVAGE_DIRECTORY}/`)) return isSalvagePath(path);
    return recordingFormatOf(path) !== undefined && isIncluded(path) && !isExcluded(path);
  };
}
