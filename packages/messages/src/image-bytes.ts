import { DecodeError, isNumberArray, partOf, type Value } from "./value.ts";

/** The most pixels of a picture: a few hundred bytes can say that they are one of four thousand million. */
const MAX_PIXELS = 64_000_000;

export interface EncodedImage {
  readonly mediaType: "image/jpeg" | "image/png";
  readonly bytes: Uint8Array;
  readonly width: number;
  readonly height: number;
}

/**
 * Finds the picture in a message of a compressed image. It is taken for what its bytes are, not for what `format` says, and refused when
 * it would unpack to more than a program should hold.
 */
export function findImage(message: Value): EncodedImage {
  const bytes = bytesOf(partOf(message, "data"));
  const image = readPng(bytes) ?? readJpeg(bytes);
  if (!image) throw new DecodeError("The picture is neither JPEG nor PNG.");
  if (image.width * image.height > MAX_PIXELS || image.width * image.height === 0) {
    throw new DecodeError(
      `The picture says that it has ${image.width} × ${image.height} pixels, which cannot be shown.`,
    );
  }
  return image;
}

/** Returns the bytes of a field, which are a list or a text in JSON. */
export function bytesOf(data: Value | undefined): Uint8Array {
  if (typeof data === "string") return readBase64(data);
  if (data instanceof Uint8Array) return data;
  if (isNumberArray(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  if (Array.isArray(data)) return Uint8Array.from(data as number[]);
  throw new DecodeError("The message has no bytes of a picture.");
}

function readBase64(text: string): Uint8Array {
  try {
    const binary = atob(text);
    const bytes = new Uint8Array(binary.length);
    for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at);
    return bytes;
  } catch (cause) {
    throw new DecodeError("The picture is not in base 64.", { cause });
  }
}

/** source: PNG, third edition, 5.2 and 11.2.1: the first chunk is IHDR, with the sizes. */
function readPng(bytes: Uint8Array): EncodedImage | undefined {
  const signature = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
  if (bytes.byteLength < 24 || signature.some((byte, index) => bytes[index] !== byte)) return undefined;
  const view = viewOf(bytes);
  return { mediaType: "image/png", bytes, width: view.getUint32(16), height: view.getUint32(20) };
}

/** source: ITU T.81, B.1.1.4 and B.2.2: segments with their lengths, until the one that begins a frame. */
function readJpeg(bytes: Uint8Array): EncodedImage | undefined {
  if (bytes[0] !== 0xff || bytes[1] !== 0xd8) return undefined;
  const view = viewOf(bytes);
  let at = 2;
  while (at + 9 <= bytes.byteLength) {
    if (bytes[at] !== 0xff) break;
    const marker = bytes[at + 1]!;
    if (isFrame(marker)) {
      return { mediaType: "image/jpeg", bytes, height: view.getUint16(at + 5), width: view.getUint16(at + 7) };
    }
    at += isAlone(marker) ? standaloneBytes(marker) : 2 + view.getUint16(at + 2);
  }
  throw new DecodeError("The picture begins as a JPEG and does not say its size.");
}

function isFrame(marker: number): boolean {
  const isOther = marker === 0xc4 || marker === 0xc8 || marker === 0xcc;
  return marker >= 0xc0 && marker <= 0xcf && !isOther;
}

function isAlone(marker: number): boolean {
  return marker === 0xff || marker === 0x01 || (marker >= 0xd0 && marker <= 0xd9);
}

/** A byte of 0xff before a marker is a fill byte. */
function standaloneBytes(marker: number): number {
  return marker === 0xff ? 1 : 2;
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
