// Prints how large the house is and how far its doors stand open: `npm run check -- --measures`. Tests and generated files do not count.
import { globSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

interface Source {
  readonly path: string;
  readonly lines: number;
  /** The files of the same package that it imports, with the names. */
  readonly imports: readonly { readonly from: string; readonly names: readonly string[] }[];
  /** Words of each comment. */
  readonly comments: readonly number[];
}

const ROOT = resolve(import.meta.dirname, "..");
const TESTS = /\.(test|slow|suite|machine|types)\.tsx?$|\/(testing|generated)\//;
const IMPORT = /^(?:import|export) (?:type )?(?:\{([^}]*)\}|[^"{]*) from "(\.[^"]+)"/gm;
const COMMENT = /\/\*\*[\s\S]*?\*\/|(?:^[ \t]*\/\/.*\n)+/gm;
const SMALL_LINES = 40;
const LONG_WORDS = 60;

const packages = globSync("packages/*/src", { cwd: ROOT })
  .map((folder) => folder.split("/")[1]!)
  .filter((name) => name !== "e2e")
  .sort();
const measured = packages.map((name) => ({ name, sources: readSources(`packages/${name}/src`) }));
for (const { name, sources } of measured) console.log(describePackage(name, sources));
console.log(describeDoors(measured.find(({ name }) => name === "cloud")!.sources));

function readSources(folder: string): Source[] {
  const paths = globSync(`${folder}/**/*.{ts,tsx}`, { cwd: ROOT }).sort();
  return paths.filter((path) => !TESTS.test(path)).map(readSource);
}

function readSource(path: string): Source {
  const text = readFileSync(join(ROOT, path), "utf8");
  const imports = [...text.matchAll(IMPORT)].map(([, names = "", from]) => ({
    from: join(dirname(path), from!),
    names: names.split(",").flatMap((name) => /(?:type )?(\w+)/.exec(name.trim())?.[1] ?? []),
  }));
  const comments = [...text.matchAll(COMMENT)].map(([comment]) => comment.match(/[\w'’-]{2,}/g)?.length ?? 0);
  return { path, lines: text.split("\n").length - 1, imports, comments };
}

function describePackage(name: string, sources: readonly Source[]): string {
  const lines = sum(sources.map((source) => source.lines));
  const comments = sources.flatMap((source) => source.comments);
  const importers = importersOf(sources);
  const uses = usesOf(sources);
  const single = sources.filter(({ path, lines: own }) => own <= SMALL_LINES && importers.get(path)?.size === 1);
  const once = [...uses.values()].filter((files) => files.size === 1);
  return [
    `${name}: ${sources.length} files, ${lines} lines`,
    `${((100 * comments.length) / lines).toFixed(1)} comments in 100 lines of ${Math.round(sum(comments) / comments.length)} words, ${comments.filter((words) => words > LONG_WORDS).length} above ${LONG_WORDS}`,
    `${single.length} files of at most ${SMALL_LINES} lines with one importer`,
    `${Math.round((100 * once.length) / uses.size)} % of the imported names by one file`,
  ].join("; ");
}

/** A door is a file that another room imports; a room is a folder of `src`. */
function describeDoors(sources: readonly Source[]): string {
  const roomOf = (path: string) => relative("packages/cloud/src", path).split("/").slice(0, -1)[0] ?? "";
  const inRooms = sources.filter(({ path }) => roomOf(path) !== "");
  const importers = importersOf(sources);
  const isDoor = ({ path }: Source) => [...(importers.get(path) ?? [])].some((by) => roomOf(by) !== roomOf(path));
  const rooms = Map.groupBy(inRooms, ({ path }) => roomOf(path));
  const each = [...rooms].map(([room, files]) => `${room} ${files.filter(isDoor).length} of ${files.length}`);
  return `doors of cloud: ${Math.round((100 * inRooms.filter(isDoor).length) / inRooms.length)} % (${each.join(", ")})`;
}

function importersOf(sources: readonly Source[]): Map<string, Set<string>> {
  const importers = new Map<string, Set<string>>();
  for (const { path, imports } of sources)
    for (const { from } of imports) importers.set(from, (importers.get(from) ?? new Set()).add(path));
  return importers;
}

/** Returns the files that import each exported name. */
function usesOf(sources: readonly Source[]): Map<string, Set<string>> {
  const uses = new Map<string, Set<string>>();
  for (const { path, imports } of sources)
    for (const { from, names } of imports)
      for (const name of names) uses.set(`${from} ${name}`, (uses.get(`${from} ${name}`) ?? new Set()).add(path));
  return uses;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
