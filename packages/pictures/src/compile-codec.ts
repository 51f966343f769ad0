import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";

/** Compiles a module of the codec, which it would fetch by itself where there is a network. */
export async function compileCodec(name: string): Promise<never> {
  const path = createRequire(import.meta.url).resolve(`@jsquash/jpeg/codec/${name}`);
  const { WebAssembly } = globalThis as unknown as { WebAssembly: { compile(bytes: Uint8Array): Promise<never> } };
  return WebAssembly.compile(await readFile(path));
}
