import { createRequire } from "node:module";

/** Its native module takes 5 MB, and many a program never meets an LZ4 chunk: loaded at the first one. */
export function loadLz4(): typeof import("lz4-napi") {
  return require("lz4-napi") as typeof import("lz4-napi");
}

const require = createRequire(import.meta.url);
