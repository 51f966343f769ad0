import { existsSync, realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";

interface Place {
  readonly root: string;
  /** Whether the agent knows a path, or knew it before it deleted the file. */
  readonly isKnown: (path: string) => boolean;
  readonly workingDirectory?: string;
}

/** `path` is relative to the root; it is absent for a file outside of the root. */
interface Located {
  readonly path: string | undefined;
  readonly absolutePath: string;
}

/**
 * A relative path starts at the root, as `agent ls` shows it, unless it names something below the working directory. A file that is
 * not there any more is located as if it were.
 */
export function locate(file: string, { root, isKnown, workingDirectory = process.cwd() }: Place): Located {
  const asNamed = locateAbsolute(resolve(workingDirectory, file), root);
  if (isAbsolute(file)) return asNamed;
  const belowRoot = locateAbsolute(join(root, file), root);
  if (isKnown(file)) return belowRoot;
  if (existsSync(asNamed.absolutePath)) return asNamed;
  if (asNamed.path === undefined) return belowRoot;
  return isKnown(asNamed.path) || !existsSync(belowRoot.absolutePath) ? asNamed : belowRoot;
}

function locateAbsolute(absolutePath: string, root: string): Located {
  const path = [absolutePath, withRealParent(absolutePath)]
    .flatMap((candidate) => [relative(root, candidate), relative(realPath(root), candidate)])
    .find((candidate) => candidate !== "" && candidate.split("/")[0] !== ".." && !isAbsolute(candidate));
  return { path, absolutePath };
}

/** Resolves the parent only, because the entry itself may be a symlink. */
function withRealParent(path: string): string {
  return join(realPath(dirname(path)), basename(path));
}

/** Returns the real path; for a missing file, it is based on the nearest existing parent. */
function realPath(path: string): string {
  if (existsSync(path)) return realpathSync(path);
  const parent = dirname(path);
  return parent === path ? path : join(realPath(parent), basename(path));
}
