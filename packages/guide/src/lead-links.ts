import { existsSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import type { MarkdownRenderer } from "vitepress";
import { CHECKOUT, DOCS } from "./places.ts";

type CoreRule = Parameters<MarkdownRenderer["core"]["ruler"]["push"]>[1];
type State = Parameters<CoreRule>[0];
type Token = State["tokens"][number];

/**
 * Links of the pages lead to files of the checkout. Those to other pages stay links. A file that is no page is not served: its link becomes text,
 * followed by its path in the checkout.
 */
export function leadLinks(markdown: MarkdownRenderer): void {
  markdown.core.ruler.push("lead-links", (state) => {
    const page = (state.env as { readonly path: string }).path;
    for (const { children } of state.tokens) if (children) changeLinks(children, { page, state });
  });
}

interface Place {
  readonly page: string;
  readonly state: State;
}

function changeLinks(tokens: Token[], { page, state }: Place): void {
  for (const [index, token] of tokens.entries()) {
    const href = token.type === "link_open" ? token.attrGet("href")! : "#";
    if (/^(#|\/|\w+:)/.test(href)) continue;
    const file = findFile(href, page);
    if (file.startsWith("../")) nameInstead(tokens, { index, path: relative(CHECKOUT, join(DOCS, file)), state });
    else token.attrSet("href", `/${file}`);
  }
}

/** Returns the path of a linked file from the folder of the pages, with the heading. A part of a page in the root has links from there. */
function findFile(href: string, page: string): string {
  const [path, heading] = href.split("#") as [string, string?];
  const found = [dirname(page), CHECKOUT].map((folder) => resolve(folder, path)).find((file) => existsSync(file));
  if (found === undefined) throw new Error(`${relative(CHECKOUT, page)} leads to ${path}, which does not exist`);
  return relative(DOCS, found) + (heading === undefined ? "" : `#${heading}`);
}

interface Named {
  readonly index: number;
  readonly path: string;
  readonly state: State;
}

function nameInstead(tokens: Token[], { index, path, state }: Named): void {
  const end = tokens.findIndex(({ type }, at) => at > index && type === "link_close");
  const code = new state.Token("code_inline", "code", 0);
  code.content = path.split("#")[0]!;
  const named = tokens.slice(index + 1, end).some(({ content }) => content.endsWith(code.content));
  tokens[index] = new state.Token("text", "", 0);
  tokens[end] = named ? new state.Token("text", "", 0) : withSpace(code, state);
}

function withSpace(code: Token, state: State): Token {
  const all = new state.Token("html_inline", "", 0);
  all.content = ` (<code>${code.content}</code>)`;
  return all;
}
