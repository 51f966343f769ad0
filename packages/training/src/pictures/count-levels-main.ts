import { decodePicture, type EncodedPicture } from "./decode-picture.ts";

const LEVELS = 256;

/** Counts how often each level comes in red, green and blue: 3 × 256 numbers. Called in a thread of its own. */
// biome-ignore lint/style/noDefaultExport: the pool calls the default export of its file.
export default async function countLevels(picture: EncodedPicture): Promise<Float64Array> {
  const rgba = await decodePicture(picture);
  const counts = new Float64Array(3 * LEVELS);
  for (let at = 0; at < rgba.length; at += 4)
    for (let channel = 0; channel < 3; channel += 1) counts[channel * LEVELS + rgba[at + channel]!]! += 1;
  return counts;
}
