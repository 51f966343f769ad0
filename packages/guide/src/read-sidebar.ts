import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DOCS } from "./places.ts";

interface Group {
  readonly text: string;
  readonly items: { readonly text: string; readonly link: string }[];
}

/**
 * Reads the list of all pages from the index: each heading is a group, and so is each line "For … **readers** …:" below it. A page is named by
 * its own heading, because the sentences of the index name it as they need.
 */
export function readSidebar(): Group[] {
  const groups: Group[] = [];
  for (const line of readFileSync(join(DOCS, "index.md"), "utf8").split("\n")) {
    const [, heading] = /^## (.+)$/.exec(line) ?? [];
    const [, readers] = /^For .*\*\*(.+)\*\*.*:$/.exec(line) ?? [];
    const name = readers === undefined ? heading : `For ${readers}`;
    if (name !== undefined) groups.push({ text: name, items: [] });
    groups.at(-1)?.items.push(...pagesOf(line));
  }
  return groups.filter(({ items }) => items.length > 0);
}

function pagesOf(line: string): Group["items"] {
  const paths = Array.from(line.matchAll(/\]\((\w[^)#]*)\.md\)/g), ([, path]) => path!);
  return paths.map((path) => ({ text: titleOf(path), link: `/${path}` }));
}

function titleOf(path: string): string {
  const [, title] = /^# (.+)$/m.exec(readFileSync(join(DOCS, `${path}.md`), "utf8"))!;
  return title!;
}
