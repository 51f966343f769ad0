import type { MarkdownRenderer } from "vitepress";
import { leadLinks } from "./lead-links.ts";

/** A name may be broken after these, where a column is narrow. */
const BREAKS_AFTER = /(?<=\w)([_/=])(?=\w)/g;

/** Changes how pages are shown, but for what VitePress does itself. */
export function shapePages(markdown: MarkdownRenderer): void {
  leadLinks(markdown);
  const show = markdown.renderer.rules.code_inline!;
  markdown.renderer.rules.code_inline = (...args) =>
    show(...args).replace(/>[^<]+</g, (text) => text.replace(BREAKS_AFTER, "$1<wbr>"));
}
