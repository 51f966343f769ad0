import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import decodeJpeg, { init } from "@jsquash/jpeg/decode.js";
import { decode as decodePng } from "fast-png";
import type { Picture } from "../align/read-pictures.ts";
import { TrainingError } from "../episodes/episode.ts";

let ready: Promise<void> | undefined;

/** Returns four bytes for each pixel of a picture. Throws {@link TrainingError} for one that cannot be unpacked. */
export async function decodePicture({
  bytes,
  mediaType,
  width,
  height,
}: Picture): Promise<Uint8Array | Uint8ClampedArray> {
  ready ??= prepare();
  await ready;
  try {
    if (mediaType === "image/png") return toRgba(decodePng(bytes));
    const image = await decodeJpeg(new Uint8Array(bytes).buffer);
    if (image.width === width && image.height === height) return image.data;
  } catch (cause) {
    throw new TrainingError(`a picture is no ${mediaType}: ${(cause as Error).message}`, { cause });
  }
  throw new TrainingError(`a picture says that it has ${width} × ${height} pixels, and it has not`);
}

async function prepare(): Promise<void> {
  const path = createRequire(import.meta.url).resolve("@jsquash/jpeg/codec/dec/mozjpeg_dec.wasm");
  const { WebAssembly } = globalThis as unknown as { WebAssembly: { compile(bytes: Uint8Array): Promise<never> } };
  await init(await WebAssembly.compile(await readFile(path)));
}

function toRgba({ data, channels, depth, width, height, palette }: ReturnType<typeof decodePng>): Uint8ClampedArray {
  if (palette || depth !== 8) throw new Error(`PNG of ${depth} bits${palette ? " with a palette" : ""} is not read`);
  const rgba = new Uint8ClampedArray(width * height * 4);
  for (let pixel = 0; pixel < width * height; pixel += 1)
    for (let channel = 0; channel < 3; channel += 1)
      rgba[4 * pixel + channel] = data[pixel * channels + (channels < 3 ? 0 : channel)]!;
  return rgba;
}
