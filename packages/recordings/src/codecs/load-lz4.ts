import { createRequire } from "node:module";

/** Loads the native module at the first LZ4 chunk, because it takes 5 MB and many programs never meet one. */
export function loadLz4(): typeof import("lz4-napi") {
  return require("lz4-napi") as typeof import("lz4-napi");
}

const require = createRequire(import.meta.url);
