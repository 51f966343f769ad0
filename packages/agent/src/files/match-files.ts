import { compileGlobs } from "@downlink/protocol/globs";
import { recordingFormatOf } from "@downlink/recordings";
import { recordingPathOf } from "./active-files.ts";
import { isInMadeDirectory, isMadePath } from "./made-path.ts";

/**
 * Matches files that are included, not excluded and of a known format, and those that the agent made. Paths are relative to the root. A file that a recorder
 * left unfinished, or that is compressed as a whole, is matched by the name of the finished or unpacked file, and is listed with the
 * reason.
 */
export function matchFiles(globs: {
  readonly include: readonly string[];
  readonly exclude: readonly string[];
}): (path: string) => boolean {
  const isIncluded = compileGlobs(globs.include);
  const isExcluded = compileGlobs(globs.exclude);
  return (path) => {
    if (isInMadeDirectory(path)) return isMadePath(path);
    const name = recordingPathOf(path);
    return recordingFormatOf(name) !== undefined && isIncluded(name) && !isExcluded(path);
  };
}
