import { dirname } from "node:path";

/** A source file and what it imports, types included; paths from the root of the checkout. */
export interface Module {
  readonly source: string;
  readonly imports: readonly string[];
}

/** Tests, what is written for them, and what a generator writes may know anybody. */
const OUTSIDE = /\.(slow|suite|test)\.ts$|\/testing(\/|\.ts$)|\/generated\/|\/dist\//;
/** What only files of the root know: who is imported from below would make the root a part of every circle. */
const ROOT_FILE = /^packages\/[^/]+\/src\/[^/]+$/;

/**
 * The one rule of rooms: no circle between folders, be they siblings, parent and child or the root, and none between files; and the
 * root of a package holds only what nothing in a folder imports. One sentence for each violation.
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

/** Of each knot one shortest way around: where it is cut, the next run tells the next. */
function circlesOf(what: string, arrows: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  const told = new Set<string>();
  return [...arrows.keys()].flatMap((start) => {
    if (told.has(start)) return [];
    const way = wayBack(start, arrows);
    if (!way) return [];
    for (const step of way) told.add(step);
    return [`a circle of ${what}: ${[...way, start].join(" → ")}`];
  });
}

/** From `start` to itself, breadth first; undefined where no arrow leads back. */
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
