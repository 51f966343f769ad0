// Checks that every file and folder exists which a page names in backticks or as a link.
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

const ROOT = resolve(import.meta.dirname, "..");
const LEFT_OUT = ["**/node_modules", "**/dist", "**/generated"];
/** A name with one of these endings is a source file wherever it stands; a name with a slash is a path. */
const SOURCE_FILE = /\w\.(ts|tsx|mjs|cjs|prisma|md)$/;
/** What names with a slash mean that are no paths of this checkout: what is built, stands on a device or in a store, or is no path at all. */
const ELSEWHERE = ["node_modules", "out", "dist", "bin/agent", "lake", "moves", "text/html"];
const PATH = /^[\w@.*{},-]+(\/[\w@.*{},-]+)*\/?$/;

const docs = globSync("**/*.md", { cwd: ROOT, exclude: LEFT_OUT }).sort();
const missing = docs.flatMap((doc) => findMissing(doc).map((path) => `${doc}: ${path} does not exist`));
console.log(missing.length === 0 ? `${docs.length} documents name only paths that exist` : missing.join("\n"));
process.exitCode = missing.length === 0 ? 0 : 1;

function findMissing(doc: string): string[] {
  const text = readFileSync(join(ROOT, doc), "utf8").replace(/^```[\s\S]*?^```/gm, "");
  const here = join(ROOT, dirname(doc));
  const links = [...text.matchAll(/\]\(([^)#\s]+)[^)]*\)/g)]
    .map(([, target]) => target!)
    .filter((target) => !/^\w+:/.test(target));
  const named = [...text.matchAll(/`([^`\n]+)`/g)].map(([, name]) => name!).filter((name) => isPath(name));
  return [...links.filter((link) => !existsSync(resolve(here, link))), ...named.filter((name) => !isThere(name, here))];
}

function isPath(name: string): boolean {
  if (!PATH.test(name) || name.includes("...")) return false;
  if (SOURCE_FILE.test(name)) return true;
  const isElsewhere = ELSEWHERE.some((other) => name === other || name.startsWith(`${other}/`));
  return name.includes("/") && /^[a-z]/.test(name) && !isElsewhere;
}

/** A path starts at the document, at its sources or at the root, or anywhere below the document. */
function isThere(name: string, here: string): boolean {
  if (basesOf(here).some((base) => globSync(name, { cwd: base }).length > 0)) return true;
  return globSync(`**/${name}`, { cwd: here, exclude: LEFT_OUT }).length > 0;
}

/** A page in a folder of a package names paths of its package as the README beside that folder does. */
function basesOf(here: string): string[] {
  const home = [here, dirname(here)].find((folder) => existsSync(join(folder, "package.json"))) ?? here;
  return [here, home, join(home, "src"), ROOT];
}
