import { bytesOf } from "@downlink/messages/image-bytes";
import { DecodeError, partOf, type Value } from "@downlink/messages/value";
import { previewLimits } from "./limits.ts";

/** A picture as its pixels: four bytes each, red, green, blue and opacity. */
export interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly rgba: Uint8ClampedArray<ArrayBuffer>;
}

/** A picture in the message. Each row begins `step` bytes after the one before. */
interface Source {
  readonly width: number;
  readonly height: number;
  readonly step: number;
  readonly bytes: Uint8Array;
  readonly view: DataView;
  readonly isLittleEndian: boolean;
}

interface Encoding {
  readonly pixelBytes: number;
  read(source: Source): Pixels;
}

/** source: sensor_msgs/image_encodings.hpp; OpenCV's names say how many bits and channels there are, and its colours are in the order of bgr. */
const encodings: Readonly<Record<string, Encoding>> = {
  rgb8: channels(3, [0, 1, 2]),
  bgr8: channels(3, [2, 1, 0]),
  rgba8: channels(4, [0, 1, 2]),
  bgra8: channels(4, [2, 1, 0]),
  "8UC3": channels(3, [2, 1, 0]),
  "8UC4": channels(4, [2, 1, 0]),
  mono8: channels(1, [0, 0, 0]),
  "8UC1": channels(1, [0, 0, 0]),
  mono16: scaled(2, ({ view, isLittleEndian }, at) => view.getUint16(at, isLittleEndian)),
  "16UC1": scaled(2, ({ view, isLittleEndian }, at) => view.getUint16(at, isLittleEndian)),
  "32FC1": scaled(4, ({ view, isLittleEndian }, at) => view.getFloat32(at, isLittleEndian)),
  bayer_rggb8: bayer("rggb"),
  bayer_bggr8: bayer("bggr"),
  bayer_gbrg8: bayer("gbrg"),
  bayer_grbg8: bayer("grbg"),
  yuv422: yuv({ luma: [1, 3], u: 0, v: 2 }),
  uyvy: yuv({ luma: [1, 3], u: 0, v: 2 }),
  yuv422_yuy2: yuv({ luma: [0, 2], u: 1, v: 3 }),
  yuyv: yuv({ luma: [0, 2], u: 1, v: 3 }),
};

/** Reads sensor_msgs/Image of ROS 1 and 2, or foxglove.RawImage. */
export function readRawImage(message: Value): Pixels {
  const name = partOf(message, "encoding");
  const encoding = typeof name === "string" && Object.hasOwn(encodings, name) ? encodings[name] : undefined;
  if (!encoding)
    throw new DecodeError(
      `Pictures in ${typeof name === "string" && name ? name : "no known encoding"} are not shown.`,
    );
  return encoding.read(sourceOf(message, encoding.pixelBytes));
}

function sourceOf(message: Value, pixelBytes: number): Source {
  const [width, height] = [sizeOf(message, "width"), sizeOf(message, "height")];
  if (width * height > previewLimits.rawPixels || width * height === 0)
    throw new DecodeError(`The picture says that it has ${width} × ${height} pixels, which cannot be shown.`);
  const step = sizeOf(message, "step") || width * pixelBytes;
  const rowBytes = width * pixelBytes;
  if (step < rowBytes) throw new DecodeError(`Its rows have ${step} bytes, and ${width} pixels need ${rowBytes}.`);
  const bytes = bytesOf(partOf(message, "data"));
  const needed = step * (height - 1) + rowBytes;
  if (bytes.byteLength < needed)
    throw new DecodeError(`The picture has ${bytes.byteLength} bytes, and its ${height} rows need ${needed}.`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const isBig = partOf(message, "is_bigendian");
  return { width, height, step, bytes, view, isLittleEndian: isBig !== 1 && isBig !== true };
}

function sizeOf(message: Value, name: string): number {
  const value = partOf(message, name);
  const size = typeof value === "number" || typeof value === "bigint" ? Number(value) : 0;
  return Number.isSafeInteger(size) && size > 0 ? size : 0;
}

function makePixels(width: number, height: number): Pixels {
  return { width, height, rgba: new Uint8ClampedArray(width * height * 4).fill(255) };
}

/** Colours of a byte each, at these places of a pixel. */
function channels(pixelBytes: number, [red, green, blue]: readonly [number, number, number]): Encoding {
  const read = ({ width, height, step, bytes }: Source) => {
    const pixels = makePixels(width, height);
    for (let y = 0, to = 0; y < height; y += 1)
      for (let x = 0, from = y * step; x < width; x += 1, from += pixelBytes, to += 4) {
        pixels.rgba[to] = bytes[from + red]!;
        pixels.rgba[to + 1] = bytes[from + green]!;
        pixels.rgba[to + 2] = bytes[from + blue]!;
      }
    return pixels;
  };
  return { pixelBytes, read };
}

/** One number a pixel, from black for the least to white for the most. One that is no number is black. */
function scaled(pixelBytes: number, valueAt: (source: Source, at: number) => number): Encoding {
  const read = (source: Source) => {
    const { width, height, step } = source;
    const values = new Float32Array(width * height);
    let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (let at = 0; at < values.length; at += 1) {
      const value = valueAt(source, Math.floor(at / width) * step + (at % width) * pixelBytes);
      values[at] = value;
      if (!Number.isFinite(value)) continue;
      least = Math.min(least, value);
      most = Math.max(most, value);
    }
    const pixels = makePixels(width, height);
    const scale = most > least ? 255 / (most - least) : 0;
    for (const [at, value] of values.entries()) {
      const grey = Number.isFinite(value) ? (value - least) * scale : 0;
      pixels.rgba.fill(grey, 4 * at, 4 * at + 3);
    }
    return pixels;
  };
  return { pixelBytes, read };
}

/** A sensor that sees one colour a pixel: each four of them make one pixel, so that the picture is half as wide and as high. */
function bayer(pattern: string): Encoding {
  const [red, blue] = [pattern.indexOf("r"), pattern.indexOf("b")];
  const greens = [pattern.indexOf("g"), pattern.lastIndexOf("g")] as const;
  const read = ({ width, height, step, bytes }: Source) => {
    const pixels = makePixels(width >> 1, height >> 1);
    const at = (corner: number, place: number) => bytes[corner + (place >> 1) * step + (place & 1)]!;
    for (let y = 0, to = 0; y < pixels.height; y += 1)
      for (let x = 0; x < pixels.width; x += 1, to += 4) {
        const corner = 2 * y * step + 2 * x;
        pixels.rgba[to] = at(corner, red);
        pixels.rgba[to + 1] = (at(corner, greens[0]) + at(corner, greens[1])) / 2;
        pixels.rgba[to + 2] = at(corner, blue);
      }
    if (pixels.rgba.length === 0) throw new DecodeError("The picture is too small for its encoding.");
    return pixels;
  };
  return { pixelBytes: 1, read };
}

interface Places {
  readonly luma: readonly [number, number];
  readonly u: number;
  readonly v: number;
}

/** Two pixels in four bytes, which share their colour. source: ITU-R BT.601, with 16 as black and 235 as white */
function yuv({ luma, u: uPlace, v: vPlace }: Places): Encoding {
  const read = ({ width, height, step, bytes }: Source) => {
    const pixels = makePixels(width, height);
    for (let y = 0, to = 0; y < height; y += 1)
      for (let x = 0; x < width; x += 1, to += 4) {
        const pair = y * step + 4 * (x >> 1);
        const bright = 1.164 * (bytes[pair + luma[x % 2 === 0 ? 0 : 1]]! - 16);
        const [u, v] = [bytes[pair + uPlace]! - 128, bytes[pair + vPlace]! - 128];
        pixels.rgba[to] = bright + 1.596 * v;
        pixels.rgba[to + 1] = bright - 0.392 * u - 0.813 * v;
        pixels.rgba[to + 2] = bright + 2.017 * u;
      }
    return pixels;
  };
  return { pixelBytes: 2, read };
}
