import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const FILES_PER_PROCESS = 8;
/** By its name a test says that it changes its process, or asks what that takes. A slow test would hold up those behind it. */
const ALONE = /\.(alone\.test|slow)\.ts$/;

/** Each takes minutes. They begin first, or the last of them would run while a processor has nothing to do. */
const LONGEST = /\/(large-exports|odd-files|races|lease-races|lost-state|cut-link)\.slow\.ts$/;

interface Place {
  /** Of the checkout. */
  readonly root: string;
  /** Is made anew. */
  readonly directory: string;
}

/**
 * The files to run, each in a process of its own, for tests given by their paths below the root. Most tests take less than
 * loading the code does: those share a process, some at a time. They share nothing else, each has its own database, folder and
 * port. The packages take turns, so that what waits runs beside what computes; what takes longest comes first.
 */
export function groupTests(paths: readonly string[], { root, directory }: Place): string[] {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  const packages = Map.groupBy(paths, (path) => path.split("/").slice(0, 2).join("-"));
  const inTurns = takeTurns([...packages].map(([name, inPackage]) => groupPackage(name, inPackage)));
  const { longest = [], others = [] } = Object.groupBy(inTurns, (path) => (LONGEST.test(path) ? "longest" : "others"));
  return [...longest, ...others];

  function groupPackage(name: string, inPackage: readonly string[]): string[] {
    const { sharing = [], alone = [] } = Object.groupBy(inPackage, (path) => (ALONE.test(path) ? "alone" : "sharing"));
    const groups = chunk(sharing, FILES_PER_PROCESS).map((group, index) => {
      const entry = join(directory, `${name}-${index + 1}.test.mjs`);
      writeFileSync(entry, loadAll(group.map((path) => pathToFileURL(join(root, path)).href)));
      return entry;
    });
    return [...groups, ...alone.map((path) => join(root, path))];
  }
}

/** No test begins before the last file is loaded: the runner would take the first ones' end for the end of all. */
function loadAll(urls: readonly string[]): string {
  return [
    'import { before } from "node:test";',
    "const loaded = Promise.withResolvers();",
    "before(() => loaded.promise);",
    ...urls.map((url) => `await import(${JSON.stringify(url)});`),
    "loaded.resolve();\n",
  ].join("\n");
}

function chunk<T>(items: readonly T[], size: number): T[][] {
  const count = Math.ceil(items.length / size);
  return Array.from({ length: count }, (_, index) => items.slice(index * size, (index + 1) * size));
}

/** The first of each list, then the second of each, and so on. */
function takeTurns<T>(lists: readonly (readonly T[])[]): T[] {
  const longest = Math.max(...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, index) => lists.flatMap((list) => list.slice(index, index + 1))).flat();
}
