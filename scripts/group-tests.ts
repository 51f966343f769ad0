import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const FILES_PER_PROCESS = 80;
/** The name says that a test changes its process or measures it, so that it runs alone. A slow test would block those behind it. */
const ALONE = /\.(alone\.test|slow)\.ts$/;

/** These tests take minutes each. They begin first, because otherwise the last of them would run alone at the end. */
const LONGEST =
  /\/(continued-backup|damaged-backup|distant-backup|large-exports|odd-files|races|lease-races|lost-state|cut-link|scenarios)\.slow\.ts$/;

interface Place {
  /** The root of the checkout. */
  readonly root: string;
  /** The directory for generated files, which is emptied first. */
  readonly directory: string;
}

/**
 * Returns the files to run, each in a process of its own, for tests that are given by their paths below the root. Most tests take less time
 * than loading the code, so that some of them share a process. They share nothing else: each has its own database, folder and port, and
 * fails if it leaves the variables or the folder of the process changed. The longest come first, then these processes; single ones, in
 * which the packages take turns, fill the end.
 */
export function groupTests(paths: readonly string[], { root, directory }: Place): string[] {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  const { sharing = [], alone = [] } = Object.groupBy(paths, (path) => (ALONE.test(path) ? "alone" : "sharing"));
  const groups = packagesOf(sharing).flatMap(([name, inPackage]) => groupPackage(name, inPackage));
  const single = packagesOf(alone).map(([, inPackage]) => inPackage.map((path) => join(root, path)));
  const { longest = [], others = [] } = Object.groupBy(takeTurns(single), (path) =>
    LONGEST.test(path) ? "longest" : "others",
  );
  return [...longest, ...groups, ...others];

  function groupPackage(name: string, inPackage: readonly string[]): string[] {
    return chunk(inPackage, FILES_PER_PROCESS).map((group, index) => {
      const entry = join(directory, `${name}-${index + 1}.test.mjs`);
      writeFileSync(entry, loadAll(group.map((path) => ({ path, url: pathToFileURL(join(root, path)).href }))));
      return entry;
    });
  }
}

function packagesOf(paths: readonly string[]): [string, string[]][] {
  return [...Map.groupBy(paths, (path) => /^(?:packages\/[^/]+|scripts)/.exec(path)![0].replace("/", "-"))];
}

/**
 * Makes a file in which the tests of one file begin once those of the file before it have ended, so that no more than one control plane of
 * each process is open. A suite takes the tests that are made while its function runs, and what is done after all of them; a test around
 * it loads the file when its turn comes.
 */
function loadAll(files: readonly { readonly path: string; readonly url: string }[]): string {
  const inTurns = files.map(({ path, url }) => {
    const load = `() => import(${JSON.stringify(url)})`;
    const act = `(t) => { keepEnvironment(t); void suite(${JSON.stringify(`tests of ${path}`)}, ${load}); }`;
    return `test(${JSON.stringify(path)}, ${act});`;
  });
  const imports = [
    'import { suite, test } from "node:test";',
    `import { keepEnvironment } from ${JSON.stringify(import.meta.resolve("./same-environment.ts"))};`,
  ];
  return [...imports, ...inTurns, ""].join("\n");
}

function chunk<T>(items: readonly T[], size: number): T[][] {
  const count = Math.ceil(items.length / size);
  return Array.from({ length: count }, (_, index) => items.slice(index * size, (index + 1) * size));
}

/** Spreads the items of each list over the whole, so that a long list does not remain when the others have ended. */
function takeTurns<T>(lists: readonly (readonly T[])[]): T[] {
  const longestFirst = lists.toSorted((a, b) => b.length - a.length);
  const placed = longestFirst.flatMap((list) =>
    list.map((item, index) => ({ item, place: (index + 1) / list.length })),
  );
  return placed.sort((a, b) => a.place - b.place).map(({ item }) => item);
}
