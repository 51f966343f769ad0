import { dirname } from "node:path";

/** A source file and its imports, types included; paths start at the root of the checkout. */
export interface Module {
  readonly source: string;
  readonly imports: readonly string[];
}

/** Tests, code that is written for them, and generated code may import anything. */
const OUTSIDE = /\.(slow|suite|test)\.ts$|\/testing(\/|\.ts$)|\/generated\/|\/dist\//;
/** Only files of the root import these: a root file that is imported from below would make the root a part of every circle. */
const ROOT_FILE = /^packages\/[^/]+\/src\/[^/]+$/;

/**
 * The one rule of rooms: there is no circle between folders, be they siblings, parent and child or the root, and none between files; and
 * the root of a package holds only files that nothing in a folder imports. Returns one sentence for each violation.
 */
export function findCircles(modules: readonly Module[]): string[] {
  const files = new Map<string, Set<string>>();
  const folders = new Map<string, Set<string>>();
  const upward: string[] = [];
  for (const { source, imports } of modules.filter(isInside)) {
    for (const target of imports.filter(
      (path) => isInside({ source: path }) && packageOf(path) === packageOf(source),
    )) {
      addArrow(files, source, target);
      if (dirname(source) !== dirname(target)) addArrow(folders, dirname(source), dirname(target));
      if (ROOT_FILE.test(target) && !ROOT_FILE.test(source)) upward.push(`${source} imports ${target}, of the root`);
    }
  }
  return [...circlesOf("folders", folders), ...circlesOf("files", files), ...upward];
}

function isInside({ source }: Pick<Module, "source">): boolean {
  return /^packages\/[^/]+\/src\//.test(source) && !OUTSIDE.test(source);
}

function packageOf(path: string): string {
  return path.split("/", 2)[1]!;
}

function addArrow(arrows: Map<string, Set<string>>, from: string, to: string): void {
  arrows.set(from, (arrows.get(from) ?? new Set()).add(to));
}

/** Finds one shortest circle in each knot: once it is cut, the next run finds the next one. */
function circlesOf(what: string, arrows: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  const found = new Set<string>();
  return [...arrows.keys()].flatMap((start) => {
    if (found.has(start)) return [];
    const way = wayBack(start, arrows);
    if (!way) return [];
    for (const step of way) found.add(step);
    return [`a circle of ${what}: ${[...way, start].join(" → ")}`];
  });
}

/** Finds a way from `start` back to itself, breadth first; undefined if no arrow leads back. */
function wayBack(start: string, arrows: ReadonlyMap<string, ReadonlySet<string>>): string[] | undefined {
  const ways = [[start]];
  const seen = new Set<string>();
  for (let way = ways.shift(); way !== undefined; way = ways.shift()) {
    for (const next of arrows.get(way.at(-1)!) ?? []) {
      if (next === start) return way;
      if (seen.has(next)) continue;
      seen.add(next);
      ways.push([...way, next]);
    }
  }
  return undefined;
}
