import { decodePicture, type EncodedPicture } from "./decode-picture.ts";
import { encodeJpeg } from "./encode-jpeg.ts";
import { shrink } from "./shrink.ts";

/** The tasks of the thread, with their results. */
export interface PictureTasks {
  readonly levels: { readonly input: EncodedPicture; readonly result: Float64Array };
  readonly stills: { readonly input: StillsInput; readonly result: Stills };
}

export interface StillsInput {
  /** All of one camera. */
  readonly pictures: readonly EncodedPicture[];
  /** The width of a still in pixels; that of a smaller picture is kept. */
  readonly width: number;
}

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

export type SentTask = {
  [N in keyof PictureTasks]: { readonly name: N; readonly input: PictureTasks[N]["input"] };
}[keyof PictureTasks];

const LEVELS = 256;
const QUALITY = 70;

/** Runs one task in a thread of its own. Throws for a picture that cannot be read, or where none of several can. */
// biome-ignore lint/style/noDefaultExport: the pool calls the default export of its file.
export default async function runTask(task: SentTask): Promise<PictureTasks[keyof PictureTasks]["result"]> {
  return task.name === "levels" ? await countLevels(task.input) : await makeStills(task.input);
}

async function countLevels(picture: EncodedPicture): Promise<Float64Array> {
  const rgba = await decodePicture(picture);
  const counts = new Float64Array(3 * LEVELS);
  for (let at = 0; at < rgba.length; at += 4)
    for (let channel = 0; channel < 3; channel += 1) counts[channel * LEVELS + rgba[at + channel]!]! += 1;
  return counts;
}

/** The first picture that can be read gives the sizes of all stills. */
async function makeStills({ pictures, width: most }: StillsInput): Promise<Stills> {
  const places: number[] = [];
  const stills: Uint8ClampedArray[] = [];
  let size: { width: number; height: number } | undefined;
  let failure: unknown;
  for (const [place, picture] of pictures.entries()) {
    try {
      const rgba = await decodePicture(picture);
      size ??= fit(picture, most);
      stills.push(shrink({ rgba, width: picture.width, height: picture.height }, size));
      places.push(place);
    } catch (error) {
      failure ??= error;
    }
  }
  if (!size) throw failure;
  const strip = await encodeJpeg(
    joinRow(stills, size),
    { width: size.width * stills.length, height: size.height },
    QUALITY,
  );
  const single = await encodeJpeg(stills[stills.length >> 1]!, size, QUALITY);
  return { strip, single, ...size, places };
}

/** A picture that stands upright is not higher than one that lies is wide. */
function fit({ width, height }: EncodedPicture, most: number): { width: number; height: number } {
  const scale = Math.min(1, most / Math.max(width, height));
  return { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) };
}

function joinRow(
  stills: readonly Uint8ClampedArray[],
  { width, height }: { width: number; height: number },
): Uint8ClampedArray {
  const row = new Uint8ClampedArray(width * stills.length * height * 4);
  for (const [place, still] of stills.entries())
    for (let y = 0; y < height; y += 1)
      row.set(still.subarray(y * width * 4, (y + 1) * width * 4), (y * stills.length + place) * width * 4);
  return row;
}
