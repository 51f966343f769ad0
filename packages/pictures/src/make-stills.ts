import { DecodeError } from "@downlink/messages/value";
import { decodePicture, type EncodedPicture } from "./decode-picture.ts";
import { encodeJpeg } from "./encode-jpeg.ts";
import { shrink } from "./shrink.ts";

/** Stills side by side in one JPEG, and the middle one for itself. */
export interface Stills {
  readonly strip: Uint8Array;
  readonly single: Uint8Array;
  /** The sizes of a still, in pixels. */
  readonly width: number;
  readonly height: number;
  /** The places of the pictures that could be read, in their order. */
  readonly places: readonly number[];
}

/** The most pixels of a picture that is unpacked: 64 MB of memory. */
export const MAX_PIXELS = 16_000_000;
const QUALITY = 70;

/**
 * Makes stills of some pictures, which are not larger than `most` pixels in either direction. The first picture that can be read gives the sizes of
 * all. Throws what is wrong with the first one where none can be read.
 */
export async function makeStills(pictures: readonly EncodedPicture[], most: number): Promise<Stills> {
  const places: number[] = [];
  const stills: Uint8ClampedArray[] = [];
  let size: Size | undefined;
  let failure: unknown;
  for (const [place, picture] of pictures.entries()) {
    try {
      requireBounded(picture);
      const rgba = await decodePicture(picture);
      size ??= fit(picture, most);
      stills.push(shrink({ rgba, width: picture.width, height: picture.height }, size));
      places.push(place);
    } catch (error) {
      failure ??= error;
    }
  }
  if (!size) throw failure;
  const strip = await encodeJpeg(joinRow(stills, size), { ...size, width: size.width * stills.length }, QUALITY);
  const single = await encodeJpeg(stills[stills.length >> 1]!, size, QUALITY);
  return { strip, single, ...size, places };
}

interface Size {
  readonly width: number;
  readonly height: number;
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

function joinRow(stills: readonly Uint8ClampedArray[], { width, height }: Size): Uint8ClampedArray {
  const row = new Uint8ClampedArray(width * stills.length * height * 4);
  for (const [place, still] of stills.entries())
    for (let y = 0; y < height; y += 1)
      row.set(still.subarray(y * width * 4, (y + 1) * width * 4), (y * stills.length + place) * width * 4);
  return row;
}
