import { existsSync, realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";

/** A relative path is one below the root, as `agent ls` shows it, unless it names something below the working directory. */
export function locate(file: string, root: string, isKnown: (path: string) => boolean) {
  const isBelowRoot = !isAbsolute(file) && (isKnown(file) || !existsSync(resolve(file)));
  const absolutePath = isBelowRoot ? join(root, file) : resolve(file);
  const path = [absolutePath, withRealParent(absolutePath)]
    .flatMap((candidate) => [relative(root, candidate), relative(realOrSame(root), candidate)])
    .find((candidate) => candidate !== "" && candidate.split("/")[0] !== ".." && !isAbsolute(candidate));
  return { path, absolutePath };
}

/** The entry itself stays as it is named: it may be a symlink. */
function withRealParent(path: string): string {
  return join(realOrSame(dirname(path)), basename(path));
}

function realOrSame(path: string): string {
  return existsSync(path) ? realpathSync(path) : path;
}
