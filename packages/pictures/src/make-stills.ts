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

/** Makes a picture smaller, to at most so many pixels in either direction or to a size. Throws for one that cannot be read. */
export async function makeStill(picture: EncodedPicture, to: Size | { readonly most: number }): Promise<Still> {
  requireBounded(picture);
  const rgba = await decodePicture(picture);
  const size = "most" in to ? fit(picture, to.most) : to;
  return { rgba: shrink({ rgba, width: picture.width, height: picture.height }, size), ...size };
}

/** Throws {@link DecodeError}. */
export function requireBounded({ width, height }: Size): void {
  if (width * height > MAX_PIXELS)
    throw new DecodeError(`A picture has ${width} × ${height} pixels, and ${MAX_PIXELS} are read.`);
}

/** A picture that stands upright is not higher than one that lies is wide. */
function fit({ width, height }: Size, most: number): Size {
  const scale = Math.min(1, most / Math.max(width, height));
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
