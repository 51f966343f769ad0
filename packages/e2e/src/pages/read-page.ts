import { readFileSync } from "node:fs";
import { join } from "node:path";

const PAGES = join(import.meta.dirname, "../../../../docs/guides/operator");

export type Page = "one-machine" | "replicas" | "backup-and-restore";

/** Returns the shell commands of a page, without those that are marked for another way to run Downlink: "```sh replicas". */
export function readPage(page: Page, way: Page): string {
  const text = readFileSync(join(PAGES, `${page}.md`), "utf8");
  const blocks = [...text.matchAll(/^```sh *(.*)\n([\s\S]*?)^```$/gm)];
  const wanted = blocks.filter(([, mark]) => mark === "" || mark === way);
  if (wanted.length === 0) throw new Error(`${page}.md has no commands`);
  return wanted.map(([, , commands]) => commands).join("");
}
