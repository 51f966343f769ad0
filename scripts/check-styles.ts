// Checks that no stylesheet of the console changes what another one draws: all of them may be loaded at once, in any order.
//
// - A class that a stylesheet draws by itself (`.badge { … }`) belongs to that stylesheet: no other one draws it.
// - A class that only changes another one (`.badge.failed`) is not drawn by itself in another stylesheet.
//
// The classes of `styles/base.css` are there for all, and others may change them in their own places.
import { globSync, readFileSync } from "node:fs";
import { resolve } from "node:path";

const STYLES = resolve(import.meta.dirname, "../packages/console/src");
const BASE = "styles/base.css";
const PLANTED = {
  "a.css": ".badge.failed > span { } .a li, .shared { }",
  "b.css": ".failed { } @media (width < 1px) { .shared:hover { } }",
};
const ALLOWED = { [BASE]: ".card { }", "a.css": ".a.card { } .a .b { } .a { }", "c.css": ".c .a { } .c.on { }" };

interface Classes {
  /** Those that the stylesheet draws by themselves, */
  readonly own: ReadonlySet<string>;
  /** and those that change another one. */
  readonly changing: ReadonlySet<string>;
}

const paths = globSync("**/*.css", { cwd: STYLES }).sort();
const problems = [
  ...findClashes(Object.fromEntries(paths.map((path) => [path, readFileSync(resolve(STYLES, path), "utf8")]))),
  ...(findClashes(PLANTED).length === 2 ? [] : ["two planted clashes of classes were not found"]),
  ...findClashes(ALLOWED).map((clash) => `refused without a reason: ${clash}`),
];
console.log(problems.length === 0 ? `${paths.length} stylesheets keep to their own classes` : problems.join("\n"));
process.exitCode = problems.length === 0 ? 0 : 1;

function findClashes(styles: Readonly<Record<string, string>>): string[] {
  const all = Object.entries(styles).map(([path, text]) => ({ path, ...classesOf(text) }));
  return all.flatMap(({ path, own, changing }) =>
    all
      .filter((other) => other.path !== path && other.path !== BASE)
      .flatMap((other) => [
        ...[...own]
          .filter((name) => other.own.has(name) && path < other.path)
          .map((name) => `${name}: it is drawn by ${path} and by ${other.path}`),
        ...[...changing]
          .filter((name) => other.own.has(name))
          .map((name) => `${name}: ${path} changes by it what ${other.path} draws`),
      ]),
  );
}

function classesOf(text: string): Classes {
  const own = new Set<string>();
  const changing = new Set<string>();
  const plain = text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/@[^{;]*[{;]/g, "");
  for (const [, selectors] of plain.matchAll(/([^{}]+)\{/g))
    for (const selector of selectors!.split(/,(?![^(]*\))/)) {
      const parts = selector.trim().split(/\s*[ >+~]\s*/);
      for (const part of parts) {
        const [first, ...others] = [...part.matchAll(/\.([a-zA-Z][\w-]*)/g)].map(([, name]) => name!);
        for (const name of others) changing.add(name);
        if (parts.length === 1 && others.length === 0 && first !== undefined && part.startsWith(".")) own.add(first);
      }
    }
  return { own, changing };
}
