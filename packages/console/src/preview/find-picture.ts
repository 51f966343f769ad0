import { type EncodedImage, findImage } from "@downlink/messages/image-bytes";
import { DecodeError, partOf, type Value } from "@downlink/messages/value";
import type { VideoRun } from "./h264.ts";
import { type Pixels, readRawImage } from "./raw-image.ts";

/** A picture in its own format, as pixels, or at the end of some pictures of a video. */
export type Picture = EncodedImage | Pixels | VideoRun;

/** A message that may have a picture. */
export interface Attempt {
  readonly timeNs: number;
  /** Throws a DecodeError where it has none. */
  read(): Picture;
}

interface Size {
  readonly width: number;
  readonly height: number;
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
export function readPicture(message: Value): EncodedImage | Pixels {
  return partOf(message, "encoding") === undefined ? findImage(message) : readRawImage(message);
}

/** Returns the first of some pictures that can be shown. A camera may send a damaged one, for which the others are no worse. */
export async function findPicture<Bitmap extends Size>(
  attempts: Iterable<Attempt>,
  toBitmap: (picture: Picture) => Promise<Bitmap>,
): Promise<FoundPicture<Bitmap>> {
  let problem: string | undefined;
  for (const { timeNs, read } of attempts) {
    try {
      const bitmap = await toBitmap(read());
      const { width, height } = bitmap;
      return { timeNs, width, height, bitmap, ...(problem === undefined ? {} : { problem }) };
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error;
      problem ??= error.message;
    }
  }
  throw new DecodeError(problem ?? "There is no picture.");
}
