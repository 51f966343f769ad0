import { DecodeError } from "@downlink/messages/value";
import { decodePicture, type EncodedPicture } from "./decode-picture.ts";
import { encodeJpeg } from "./encode-jpeg.ts";
import { shrink } from "./shrink.ts";

interface Size {
  readonly width: number;
  readonly height: number;
}

/** A small picture, with four bytes for each pixel: red, green, blue, and one that does not count. */
export interface Still extends Size {
  readonly rgba: Uint8ClampedArray;
}

/** Stills side by side in one JPEG, and the middle one for itself. */
export interface JoinedStills extends Size {
  readonly strip: Uint8Array;
  readonly single: Uint8Array;
}

/** The most pixels of a picture that is unpacked: 64 MB of memory. */
export const MAX_PIXELS = 16_000_000;
const QUALITY = 70;

/** Makes a picture smaller, to at most so many pixels in either direction or, with its own shape, into a size. Throws for one that cannot be read. */
export async function makeStill(picture: EncodedPicture, to: Size | { readonly most: number }): Promise<Still> {
  requireBounded(picture);
  const rgba = await decodePicture(picture);
  const inner = fit(picture, "most" in to ? { width: to.most, height: to.most } : to);
  const still = { rgba: shrink({ rgba, width: picture.width, height: picture.height }, inner), ...inner };
  return "most" in to ? still : putInto(still, to);
}

/** Puts a picture into the middle of a black one. */
function putInto(inner: Still, size: Size): Still {
  if (inner.width === size.width && inner.height === size.height) return inner;
  const rgba = new Uint8ClampedArray(size.width * size.height * 4);
  const [left, top] = [(size.width - inner.width) >> 1, (size.height - inner.height) >> 1];
  for (let y = 0; y < inner.height; y += 1) {
    const row = inner.rgba.subarray(y * inner.width * 4, (y + 1) * inner.width * 4);
    rgba.set(row, ((y + top) * size.width + left) * 4);
  }
  return { rgba, ...size };
}

/** Throws {@link DecodeError}. */
export function requireBounded({ width, height }: Size): void {
  if (width * height > MAX_PIXELS)
    throw new DecodeError(`A picture has ${width} × ${height} pixels, and ${MAX_PIXELS} are read.`);
}

/** A small picture keeps its size. */
function fit({ width, height }: Size, most: Size): Size {
  const scale = Math.min(1, most.width / width, most.height / height);
  return { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) };
}

/** Joins stills of one size, of which there is one at least. */
export async function joinStills(stills: readonly Still[]): Promise<JoinedStills> {
  const { width, height } = stills[0]!;
  const row = new Uint8ClampedArray(width * stills.length * height * 4);
  for (const [place, { rgba }] of stills.entries())
    for (let y = 0; y < height; y += 1)
      row.set(rgba.subarray(y * width * 4, (y + 1) * width * 4), (y * stills.length + place) * width * 4);
  const strip = await encodeJpeg(row, { width: width * stills.length, height }, QUALITY);
  const single = await encodeJpeg(stills[stills.length >> 1]!.rgba, { width, height }, QUALITY);
  return { strip, single, width, height };
}
