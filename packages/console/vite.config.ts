import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { defineConfig, type Plugin } from "vite";

const target = process.env.DOWNLINK_URL ?? "http://127.0.0.1:8080";
const ROOT = import.meta.dirname;

/** Stores each file in the codings that browsers take as well, so that the service spends no time on it. */
const storeCodings: Plugin = {
  name: "store-codings",
  apply: "build",
  closeBundle() {
    const folder = join(ROOT, "dist");
    for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
      if (!/\.(css|html|js|svg)$/.test(name)) continue;
      const bytes = readFileSync(join(folder, name));
      writeFileSync(join(folder, `${name}.gz`), gzipSync(bytes, { level: 9 }));
      writeFileSync(join(folder, `${name}.br`), brotliCompressSync(bytes));
    }
  },
};

/**
 * Schemas of Zod can also be turned into JSON Schema, which no page asks for: an eighth of the first load otherwise. A call of one of these
 * functions throws.
 */
const withoutJsonSchemas: Plugin = {
  name: "without-json-schemas",
  apply: "build",
  transform(code, id) {
    if (!/[\\/]zod[\\/]v4[\\/]core[\\/](to-json-schema|json-schema-processors)\.js$/.test(id)) return null;
    const names = [...code.matchAll(/^export (?:(?:const|function) |\{ \w+ as )(\w+)/gm)].map(([, name]) => name);
    const refuse = 'function refuse() { throw new Error("the console makes no JSON schemas"); }';
    return [refuse, ...names.map((name) => `export const ${name} = () => refuse;`)].join("\n");
  },
};

/** Contracts carry the sentences of the API's document, which no page shows: a twentieth of the first load otherwise. */
const withoutSentences: Plugin = {
  name: "without-sentences",
  apply: "build",
  enforce: "pre",
  transform(code, id) {
    if (!/[\\/]protocol[\\/]src[\\/].*\.ts$/.test(id)) return null;
    return code.replaceAll(/\b(description|summary|meaning):\s*"(?:[^"\\\n]|\\.)*"/g, '$1: ""');
  },
};

/**
 * What several pages share would be a file for each set of pages: dozens of requests. The first page is one file, with all that it needs:
 * it also tells schemas that no code is made from text before one of them is made. What most lists need is another.
 */
const parts = [
  { name: "first", test: /console[\\/]src[\\/](main|coverage[\\/]coverage-page)\.tsx$/, priority: 2 },
  {
    name: "lists",
    test: /console[\\/]src[\\/]parts[\\/](resource-list|table|time|confirm|tabs|form-dialog|text-field|secret-dialog)\.tsx$/,
    priority: 1,
  },
];

export default defineConfig({
  root: ROOT,
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  plugins: [withoutJsonSchemas, withoutSentences, storeCodings],
  build: {
    outDir: "dist",
    target: "es2022",
    modulePreload: { polyfill: false },
    // A file in a data URL would need a looser policy than that of the pages.
    assetsInlineLimit: 0,
    rolldownOptions: { output: { codeSplitting: { groups: parts } } },
  },
  worker: {
    format: "es",
    // The reader of MCAP files that needs heaps is not used there; their package does not say that it may be left out.
    rolldownOptions: { treeshake: { moduleSideEffects: [{ test: /[\\/]heap-js[\\/]/, sideEffects: false }] } },
  },
  // `npm run dev:console` serves the pages from their sources, in front of a control plane that runs already.
  server: { proxy: { "/v1": target, "/data-plane": target, "/docs": target, "/guide": target } },
});
