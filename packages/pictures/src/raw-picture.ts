import { crc32, deflateSync } from "node:zlib";
import { bytesOf } from "@downlink/messages/image-bytes";
import { DecodeError, partOf, type Value } from "@downlink/messages/value";

/** How a pixel is stored: its bytes, and the places of red, green and blue in it. source: sensor_msgs/image_encodings.hpp */
const encodings: Readonly<Record<string, readonly [pixelBytes: number, red: number, green: number, blue: number]>> = {
  rgb8: [3, 0, 1, 2],
  bgr8: [3, 2, 1, 0],
  "8UC3": [3, 2, 1, 0],
  rgba8: [4, 0, 1, 2],
  bgra8: [4, 2, 1, 0],
  mono8: [1, 0, 0, 0],
  "8UC1": [1, 0, 0, 0],
};

const MAX_PIXELS = 64_000_000;

/** A picture that comes as its pixels. */
export interface RawPicture {
  readonly width: number;
  readonly height: number;
  /** Makes a PNG of it: colours of eight bits, without opacity. The same pixels give the same bytes. */
  toPng(): Uint8Array;
}

/** Reads sensor_msgs/Image of ROS 1 and 2, or foxglove.RawImage; undefined: the message is of another kind. Throws {@link DecodeError}. */
export function readRawPicture(message: Value): RawPicture | undefined {
  const name = partOf(message, "encoding");
  if (typeof name !== "string") return undefined;
  const encoding = Object.hasOwn(encodings, name) ? encodings[name] : undefined;
  if (!encoding)
    throw new DecodeError(
      `The picture has pixels in ${name || "no encoding"}, and ${Object.keys(encodings).join(", ")} are read.`,
    );
  const [width, height, step] = ["width", "height", "step"].map((field) => sizeOf(partOf(message, field))) as [
    number,
    number,
    number,
  ];
  const bytes = bytesOf(partOf(message, "data"));
  const rowBytes = step || width * encoding[0];
  if (width * height === 0 || width * height > MAX_PIXELS || rowBytes < width * encoding[0])
    throw new DecodeError(`The picture has ${width} × ${height} pixels in rows of ${rowBytes} bytes.`);
  if (bytes.byteLength < rowBytes * (height - 1) + width * encoding[0])
    throw new DecodeError(`The picture has ${bytes.byteLength} bytes, and needs ${rowBytes * height}.`);
  return {
    width,
    height,
    toPng: () => writePng({ width, height }, toScanlines({ width, height, rowBytes, bytes }, encoding)),
  };
}

function sizeOf(value: Value | undefined): number {
  const size = typeof value === "number" || typeof value === "bigint" ? Number(value) : 0;
  return Number.isSafeInteger(size) && size > 0 ? size : 0;
}

interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly rowBytes: number;
  readonly bytes: Uint8Array;
}

/** Each row begins with the number of its filter, which is none. */
function toScanlines(
  { width, height, rowBytes, bytes }: Pixels,
  [pixelBytes, ...places]: (typeof encodings)[string],
): Buffer {
  const lines = Buffer.alloc(height * (1 + 3 * width));
  for (let y = 0, to = 0; y < height; y += 1) {
    to += 1;
    for (let x = 0, from = y * rowBytes; x < width; x += 1, from += pixelBytes)
      for (const place of places) {
        lines[to] = bytes[from + place]!;
        to += 1;
      }
  }
  return lines;
}

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const EIGHT_BITS = 8;
const COLOURS = 2;

/** source: PNG, third edition, 5.3 and 11.2 */
function writePng({ width, height }: Pick<Pixels, "width" | "height">, scanlines: Buffer): Uint8Array {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([EIGHT_BITS, COLOURS, 0, 0, 0], 8);
  const chunks = [
    chunkOf("IHDR", header),
    chunkOf("IDAT", deflateSync(scanlines, { level: 6 })),
    chunkOf("IEND", Buffer.alloc(0)),
  ];
  return Buffer.concat([SIGNATURE, ...chunks]);
}

function chunkOf(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const chunk = Buffer.alloc(body.length + 8);
  chunk.writeUInt32BE(data.length, 0);
  chunk.set(body, 4);
  chunk.writeUInt32BE(crc32(body), body.length + 4);
  return chunk;
}
