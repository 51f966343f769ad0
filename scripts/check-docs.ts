// Checks that every file and folder exists which a page, or a script in `prisma/functions`, names in backticks or as a link, every heading that a link leads to, and that the index
// of `docs/` names each of its pages.
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { headingAnchor } from "./heading-anchor.ts";

const ROOT = resolve(import.meta.dirname, "..");
const LEFT_OUT = ["**/node_modules", "**/dist", "**/generated"];
/** A name with one of these endings is a source file wherever it stands; a name with a slash is a path. */
const SOURCE_FILE = /\w\.(ts|tsx|mjs|cjs|prisma|md)$/;
/** What names with a slash mean that are no paths of this checkout: what is built, stands on a device or in a store, or is no path at all. */
const ELSEWHERE = ["node_modules", "out", "dist", "bin/agent", "lake", "moves", "text/html"];
const PATH = /^[\w@.*{},-]+(\/[\w@.*{},-]+)*\/?$/;

const docs = globSync(["**/*.md", "prisma/functions/*.sql"], { cwd: ROOT, exclude: LEFT_OUT }).sort();
const missing = [
  ...docs.flatMap((doc) => findMissing(doc).map((path) => `${doc}: ${path} does not exist`)),
  ...docs.flatMap((doc) => findLostHeadings(doc).map((link) => `${doc}: ${link} leads to no heading`)),
  ...findUnlisted().map((page) => `docs/index.md: ${page} is not named`),
];
console.log(missing.length === 0 ? `${docs.length} documents name only paths that exist` : missing.join("\n"));
process.exitCode = missing.length === 0 ? 0 : 1;

function findMissing(doc: string): string[] {
  const text = readProse(doc);
  const here = join(ROOT, dirname(doc));
  const links = [...text.matchAll(/\]\(([^)#\s]+)[^)]*\)/g)]
    .map(([, target]) => target!)
    .filter((target) => !/^\w+:/.test(target));
  const named = [...text.matchAll(/`([^`\n]+)`/g)].map(([, name]) => name!).filter((name) => isPath(name));
  return [...links.filter((link) => !existsSync(resolve(here, link))), ...named.filter((name) => !isThere(name, here))];
}

/** Returns links to a heading that the page they lead to does not have. */
function findLostHeadings(doc: string): string[] {
  const links = [...readProse(doc).matchAll(/\]\(([^)#\s:]*)#([^)\s]+)\)/g)];
  return links.flatMap(([, path, heading]) => {
    const page = path === "" ? doc : join(dirname(doc), path!);
    return existsSync(join(ROOT, page)) && !headingsOf(page).has(heading!) ? [`${path}#${heading}`] : [];
  });
}

function headingsOf(page: string): Set<string> {
  return new Set([...readProse(page).matchAll(/^#+ +(.*)$/gm)].map(([, heading]) => headingAnchor(heading!)));
}

function findUnlisted(): string[] {
  const index = readProse("docs/index.md");
  const pages = globSync("**/*.md", { cwd: join(ROOT, "docs") }).sort();
  return pages.filter((page) => page !== "index.md" && !index.includes(`](${page})`));
}

/** Returns a page without its blocks of commands and code. */
function readProse(doc: string): string {
  return readFileSync(join(ROOT, doc), "utf8").replace(/^```[\s\S]*?^```/gm, "");
}

function isPath(name: string): boolean {
  if (!PATH.test(name) || name.includes("...")) return false;
  if (SOURCE_FILE.test(name)) return true;
  const isElsewhere = ELSEWHERE.some((other) => name === other || name.startsWith(`${other}/`));
  return name.includes("/") && /^[a-z]/.test(name) && !isElsewhere;
}

/** A path starts at the document, at its sources or at the root, or anywhere below the document; a folder in `docs/` is one of a package's sources. */
function isThere(name: string, here: string): boolean {
  if (basesOf(here).some((base) => globSync(name, { cwd: base }).length > 0)) return true;
  if (here.startsWith(join(ROOT, "docs")) && name.endsWith("/"))
    return globSync(`packages/*/src/${name}`, { cwd: ROOT }).length > 0;
  return globSync(`**/${name}`, { cwd: here, exclude: LEFT_OUT }).length > 0;
}

/** A page in a folder of a package names paths of its package as the README beside that folder does. */
function basesOf(here: string): string[] {
  const home = [here, dirname(here)].find((folder) => existsSync(join(folder, "package.json"))) ?? here;
  return [here, home, join(home, "src"), ROOT];
}
