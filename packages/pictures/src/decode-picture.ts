import { inflateSync } from "node:zlib";
import decodeJpeg, { init } from "@jsquash/jpeg/decode.js";
import { decode as decodePng } from "fast-png";
import { compileCodec } from "./compile-codec.ts";

/** A picture in its own format, with the size that its header says. */
export interface EncodedPicture {
  readonly bytes: Uint8Array;
  readonly mediaType: "image/jpeg" | "image/png";
  readonly width: number;
  readonly height: number;
}

let ready: Promise<void> | undefined;

/** Returns four bytes for each pixel: red, green, blue, and one that does not count. Throws for bytes that are not such a picture. */
export async function decodePicture(picture: EncodedPicture): Promise<Uint8Array | Uint8ClampedArray> {
  const { bytes, mediaType, width, height } = picture;
  if (mediaType === "image/png") {
    requireBounded(picture);
    return toRgba(decodePng(bytes));
  }
  ready ??= prepare();
  await ready;
  const image = await decodeJpeg(new Uint8Array(bytes).buffer).catch(refuse);
  if (image.width === width && image.height === height) return image.data;
  throw new Error("its bytes are of another size");
}

/** The decoder ends with a status and not with an error. */
function refuse(cause: unknown): never {
  throw new Error("its bytes are no whole JPEG", { cause });
}

async function prepare(): Promise<void> {
  await init(await compileCodec("dec/mozjpeg_dec.wasm"));
}

/** Each row begins with a byte for its filter; a pixel has eight bytes at most. */
const MAX_PIXEL_BYTES = 8;

/** A few bytes of a PNG can inflate to any number, whatever its header says. source: PNG, third edition, 5.3 and 10 */
function requireBounded({ bytes, width, height }: EncodedPicture): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const data: Uint8Array[] = [];
  for (let at = 8; at + 12 <= bytes.byteLength; at += 12 + view.getUint32(at)) {
    const type = Buffer.from(bytes.subarray(at + 4, at + 8)).toString("latin1");
    if (type !== "IDAT" && /^[zi](TXt|CCP)$/.test(type)) throw new Error("it has compressed texts");
    if (type === "IDAT") data.push(bytes.subarray(at + 8, at + 8 + view.getUint32(at)));
  }
  // Seven passes of an interlaced picture have at most twice as many rows.
  inflateSync(Buffer.concat(data), { maxOutputLength: 2 * height + width * height * MAX_PIXEL_BYTES + 7 * height });
}

function toRgba({ data, channels, depth, width, height, palette }: ReturnType<typeof decodePng>): Uint8ClampedArray {
  if (palette || depth !== 8) throw new Error(`PNG of ${depth} bits${palette ? " with a palette" : ""} is not read`);
  const rgba = new Uint8ClampedArray(width * height * 4);
  for (let pixel = 0; pixel < width * height; pixel += 1)
    for (let channel = 0; channel < 3; channel += 1)
      rgba[4 * pixel + channel] = data[pixel * channels + (channels < 3 ? 0 : channel)]!;
  return rgba;
}
