import { DecodeError, partOf, type Value } from "./decoders/value.ts";
import { type EncodedImage, findImage } from "./image-bytes.ts";
import { type Pixels, readRawImage } from "./raw-image.ts";

export type Picture = EncodedImage | Pixels;

/** A message that may have a picture. */
export interface Attempt {
  readonly timeNs: number;
  /** Throws a DecodeError where it has none. */
  read(): Picture;
}

export interface FoundPicture<Bitmap> {
  readonly timeNs: number;
  readonly bitmap: Bitmap;
  readonly width: number;
  readonly height: number;
  /** Why the first one is not shown, where this is a later one. */
  readonly problem?: string;
}

/** Only messages of raw images say how their pixels are encoded. */
export function readPicture(message: Value): Picture {
  return partOf(message, "encoding") === undefined ? findImage(message) : readRawImage(message);
}

/** Returns the first of some pictures that can be shown. A camera may send a damaged one, for which the others are no worse. */
export async function findPicture<Bitmap>(
  attempts: readonly Attempt[],
  toBitmap: (picture: Picture) => Promise<Bitmap>,
): Promise<FoundPicture<Bitmap>> {
  let problem: string | undefined;
  for (const { timeNs, read } of attempts) {
    try {
      const picture = read();
      const { width, height } = picture;
      return { timeNs, width, height, bitmap: await toBitmap(picture), ...(problem === undefined ? {} : { problem }) };
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error;
      problem ??= error.message;
    }
  }
  throw new DecodeError(problem ?? "There is no picture.");
}
