// Checks that every path exists which a README, a page of its package or CONTRIBUTING names in backticks or as a link.
import { existsSync, globSync, readFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

const ROOT = resolve(import.meta.dirname, "..");
const DOCS = ["README.md", "CONTRIBUTING.md", "packages/*/*.md", "packages/*/docs/*.md"];
/** A name with one of these endings is a source file wherever it stands; other names are paths if their first folder exists. */
const SOURCE_FILE = /\w\.(ts|tsx|mjs|cjs|prisma|md)$/;
const PATH = /^[\w@.*{},-]+(\/[\w@.*{},-]+)*\/?$/;

const docs = globSync(DOCS, { cwd: ROOT }).sort();
const missing = docs.flatMap((doc) => findMissing(doc).map((path) => `${doc}: ${path} does not exist`));
console.log(missing.length === 0 ? `${docs.length} documents name only paths that exist` : missing.join("\n"));
process.exitCode = missing.length === 0 ? 0 : 1;

function findMissing(doc: string): string[] {
  const text = readFileSync(join(ROOT, doc), "utf8").replace(/^```[\s\S]*?^```/gm, "");
  const here = join(ROOT, dirname(doc));
  const links = [...text.matchAll(/\]\(([^)#\s]+)[^)]*\)/g)]
    .map(([, target]) => target!)
    .filter((target) => !/^\w+:/.test(target));
  const named = [...text.matchAll(/`([^`\n]+)`/g)].map(([, name]) => name!).filter((name) => isPath(name, here));
  return [...links.filter((link) => !existsSync(resolve(here, link))), ...named.filter((name) => !isThere(name, here))];
}

function isPath(name: string, here: string): boolean {
  if (!PATH.test(name) || name.includes("...")) return false;
  if (SOURCE_FILE.test(name)) return true;
  const first = name.split("/")[0]!;
  return name.includes("/") && /\w/.test(first) && basesOf(here).some((base) => existsSync(join(base, first)));
}

/** A bare file name may be anywhere below; a longer path starts at the document, at its sources or at the root. */
function isThere(name: string, here: string): boolean {
  if (basesOf(here).some((base) => globSync(name, { cwd: base }).length > 0)) return true;
  return globSync(`**/${name}`, { cwd: here, exclude: ["**/node_modules", "**/dist"] }).length > 0;
}

/** A page in `docs/` names paths of its package as the README beside that folder does. */
function basesOf(here: string): string[] {
  const home = basename(here) === "docs" ? dirname(here) : here;
  return [here, home, join(home, "src"), ROOT];
}
