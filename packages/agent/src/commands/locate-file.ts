import { existsSync, realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";

interface Place {
  readonly root: string;
  /** Whether the agent knows a path below the root, or did before it deleted it. */
  readonly isKnown: (path: string) => boolean;
  readonly workingDirectory?: string;
}

/** Below the root with `path`, `/`-separated; without, it is elsewhere. */
interface Located {
  readonly path: string | undefined;
  readonly absolutePath: string;
}

/**
 * A relative path is one below the root, as `agent ls` shows it, unless it names something below the working directory. What is
 * not there any more, as a deleted file, is found as if it were.
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

/** The entry itself stays as it is named: it may be a symlink. */
function withRealParent(path: string): string {
  return join(realPath(dirname(path)), basename(path));
}

/** Of what is not there: below the real path of the nearest parent that is. */
function realPath(path: string): string {
  if (existsSync(path)) return realpathSync(path);
  const parent = dirname(path);
  return parent === path ? path : join(realPath(parent), basename(path));
}
