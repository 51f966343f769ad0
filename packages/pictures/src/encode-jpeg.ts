import encode, { init } from "@jsquash/jpeg/encode.js";
import { compileCodec } from "./compile-codec.ts";

let ready: Promise<unknown> | undefined;

interface Size {
  readonly width: number;
  readonly height: number;
}

/** Encodes pixels of four bytes: red, green, blue, and one that does not count. */
export async function encodeJpeg(
  rgba: Uint8ClampedArray,
  { width, height }: Size,
  quality: number,
): Promise<Uint8Array> {
  ready ??= prepare();
  await ready;
  const image = { data: rgba, width, height, colorSpace: "srgb" } as unknown as Parameters<typeof encode>[0];
  return new Uint8Array(await encode(image, { quality }));
}

/** Its types do not know that a compiled module is taken. */
async function prepare(): Promise<void> {
  await (init as (module: never) => Promise<void>)(await compileCodec("enc/mozjpeg_enc.wasm"));
}
