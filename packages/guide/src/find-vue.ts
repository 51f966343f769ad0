import { createRequire } from "node:module";
import type { Plugin } from "vite";
import { DOCS } from "./places.ts";

const VITEPRESS = createRequire(import.meta.url).resolve("vitepress/package.json");

/** The pages are outside of this package, where Vue is not found: VitePress brings it. */
export const findVue: Plugin = {
  name: "find-vue",
  enforce: "pre",
  resolveId(source, importer, options) {
    if (!/^vue(\/|$)/.test(source) || !importer?.startsWith(DOCS)) return null;
    return this.resolve(source, VITEPRESS, { ...options, skipSelf: true });
  },
};
