import { createRequire } from "node:module";

/**
 * Loads the native module at the first LZ4 chunk, because it takes 5 MB and many programs never meet one.
 *
 * We use `lz4-napi`, not `@foxglove/wasm-lz4`: after one damaged frame that one refuses every later frame until the process ends.
 * `lz4-napi` does not bound its output and reads one frame only, so `lz4-frames.ts` finds the frames and adds up the heads of their blocks
 * first.
 */
export function loadLz4(): typeof import("lz4-napi") {
  return require("lz4-napi") as typeof import("lz4-napi");
}

const require = createRequire(import.meta.url);
