// A picture may come from anywhere, and a small one can take minutes to unpack. So that is done in a thread, which can be ended.

import { extname } from "node:path";
import { Piscina } from "piscina";
import { TrainingError } from "../episodes/episode.ts";
import type { EncodedPicture } from "./decode-picture.ts";

/** The most pixels that are unpacked: 64 MB of memory. */
const MAX_PIXELS = 16_000_000;
const LONGEST_MS = 20_000;
const IDLE_MS = 1000;

let pool: Piscina<EncodedPicture, Float64Array> | undefined;

/**
 * Counts how often each level comes in red, green and blue: 3 × 256 numbers. Throws {@link TrainingError} for a picture that is none, is too
 * large or takes too long.
 */
export async function countLevels({ bytes, mediaType, width, height }: EncodedPicture): Promise<Float64Array> {
  if (width * height > MAX_PIXELS)
    throw new TrainingError(`a picture has ${width} × ${height} pixels, and ${MAX_PIXELS} are read`);
  pool ??= openPool();
  try {
    return await pool.run({ bytes, mediaType, width, height }, { signal: AbortSignal.timeout(LONGEST_MS) });
  } catch (cause) {
    const { name, message } = cause as Error;
    const why = name === "AbortError" ? `it takes more than ${LONGEST_MS / 1000} s to unpack` : message;
    throw new TrainingError(`a picture of ${width} × ${height} pixels cannot be read: ${why}`, { cause });
  }
}

/** The thread starts with the first picture, and ends a second after the last one. */
function openPool(): Piscina<EncodedPicture, Float64Array> {
  const filename = new URL(`./count-levels-main${extname(import.meta.url)}`, import.meta.url).href;
  return new Piscina({ filename, minThreads: 0, maxThreads: 1, idleTimeout: IDLE_MS, execArgv: [] });
}
