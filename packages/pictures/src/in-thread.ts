// A picture may come from anywhere, and a small one can take minutes to unpack. So that is done in a thread, which can be ended.

import { extname } from "node:path";
import { DecodeError } from "@downlink/messages/value";
import { Piscina } from "piscina";
import type { EncodedPicture } from "./decode-picture.ts";
import type { PictureTasks, SentTask, Stills, StillsInput } from "./picture-thread-main.ts";

export type { Stills } from "./picture-thread-main.ts";

/** The most pixels that are unpacked: 64 MB of memory. */
export const MAX_PIXELS = 16_000_000;
const LONGEST_MS = 20_000;
const IDLE_MS = 1000;

let pool: Piscina<SentTask, PictureTasks[keyof PictureTasks]["result"]> | undefined;

/**
 * Counts how often each level comes in red, green and blue: 3 × 256 numbers. Throws {@link DecodeError} for a picture that is none, is too
 * large or takes too long.
 */
export async function countLevels(picture: EncodedPicture): Promise<Float64Array> {
  const { width, height } = picture;
  if (!isBounded(picture))
    throw new DecodeError(`A picture has ${width} × ${height} pixels, and ${MAX_PIXELS} are read.`);
  return (await run(
    { name: "levels", input: copy(picture) },
    `A picture of ${width} × ${height} pixels`,
  )) as Float64Array;
}

/** Makes stills of the pictures of a camera. Those that cannot be read are left out. Throws {@link DecodeError} where there is no other. */
export async function makeStills({ pictures, width }: StillsInput): Promise<Stills> {
  const places = [...pictures.keys()].filter((place) => isBounded(pictures[place]!));
  if (places.length === 0) throw new DecodeError(`The pictures have more than ${MAX_PIXELS} pixels.`);
  const input = { pictures: places.map((place) => copy(pictures[place]!)), width };
  const stills = (await run({ name: "stills", input }, "The pictures")) as Stills;
  return { ...stills, places: stills.places.map((place) => places[place]!) };
}

function isBounded({ width, height }: EncodedPicture): boolean {
  return width * height <= MAX_PIXELS;
}

/** A picture may have other fields, which do not cross to a thread. */
function copy({ bytes, mediaType, width, height }: EncodedPicture): EncodedPicture {
  return { bytes, mediaType, width, height };
}

async function run(task: SentTask, what: string): Promise<PictureTasks[keyof PictureTasks]["result"]> {
  pool ??= openPool();
  try {
    return await pool.run(task, { signal: AbortSignal.timeout(LONGEST_MS) });
  } catch (cause) {
    const { name, message } = cause as Error;
    const why = name === "AbortError" ? `it takes more than ${LONGEST_MS / 1000} s to unpack` : message;
    throw new DecodeError(`${what} cannot be read: ${why.replace(/\.$/, "")}.`, { cause });
  }
}

/** The thread knows no secret. It starts with the first picture, and ends a second after the last one. */
function openPool(): NonNullable<typeof pool> {
  const filename = new URL(`./picture-thread-main${extname(import.meta.url)}`, import.meta.url).href;
  const limits = { maxYoungGenerationSizeMb: 16, maxOldGenerationSizeMb: 256 };
  return new Piscina({
    ...{ filename, minThreads: 0, maxThreads: 1, idleTimeout: IDLE_MS, execArgv: [], env: {} },
    resourceLimits: limits,
  });
}
