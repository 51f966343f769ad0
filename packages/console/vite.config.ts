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

export default defineConfig({
  root: ROOT,
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  plugins: [storeCodings],
  build: {
    outDir: "dist",
    target: "es2022",
    modulePreload: { polyfill: false },
    // A file in a data URL would need a looser policy than that of the pages.
    assetsInlineLimit: 0,
    // Whatever chunk needs schemas finds them told already that no code is made from text: parts are evaluated before the page that needs them.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [{ name: "schemas", test: /[\\/]node_modules[\\/]zod[\\/]|[\\/]console[\\/]src[\\/]jitless\.ts$/ }],
        },
      },
    },
  },
  worker: { format: "es" },
  // `npm run dev:console` serves the pages from their sources, in front of a control plane that runs already.
  server: { proxy: { "/v1": target, "/data-plane": target, "/docs": target } },
});
