import { makeDecode } from "@downlink/messages/decode";
import { findImage } from "@downlink/messages/image-bytes";
import { type Message, readMcap } from "@downlink/messages/read-mcap";
import { DecodeError } from "@downlink/messages/value";
import { decodePicture, type EncodedPicture } from "./decode-picture.ts";
import { makeStills, type Stills } from "./make-stills.ts";
import { readRawPicture } from "./raw-picture.ts";

/** The tasks of the thread, with their results. */
export interface PictureTasks {
  readonly levels: { readonly input: EncodedPicture; readonly result: Float64Array };
  readonly stills: { readonly input: StillsInput; readonly result: TimedStills };
}

export interface StillsInput {
  /** MCAP files. The last message of each is a picture; those without a message are passed over. */
  readonly files: readonly Uint8Array[];
  /** The most pixels of a still in either direction; a smaller picture keeps its size. */
  readonly most: number;
}

export interface TimedStills extends Omit<Stills, "places"> {
  /** The log times of the stills. */
  readonly timesNs: readonly bigint[];
}

export type SentTask = {
  [N in keyof PictureTasks]: { readonly name: N; readonly input: PictureTasks[N]["input"] };
}[keyof PictureTasks];

const LEVELS = 256;
const MAX_VALUES = 100_000;

/** Runs one task in a thread of its own. Throws for a picture that cannot be read, or where none of several can. */
// biome-ignore lint/style/noDefaultExport: the pool calls the default export of its file.
export default async function runTask(task: SentTask): Promise<PictureTasks[keyof PictureTasks]["result"]> {
  return task.name === "levels" ? await countLevels(task.input) : await readStills(task.input);
}

async function countLevels(picture: EncodedPicture): Promise<Float64Array> {
  const rgba = await decodePicture(picture);
  const counts = new Float64Array(3 * LEVELS);
  for (let at = 0; at < rgba.length; at += 4)
    for (let channel = 0; channel < 3; channel += 1) counts[channel * LEVELS + rgba[at + channel]!]! += 1;
  return counts;
}

async function readStills({ files, most }: StillsInput): Promise<TimedStills> {
  const found: { readonly picture: EncodedPicture; readonly timeNs: bigint }[] = [];
  let failure: unknown;
  for (const file of files) {
    try {
      const picture = await readLast(file);
      if (picture && picture.timeNs !== found.at(-1)?.timeNs) found.push(picture);
    } catch (error) {
      failure ??= error;
    }
  }
  if (found.length === 0) throw failure ?? new DecodeError("There is no message.");
  const pictures = found.map(({ picture }) => picture);
  const { places, ...stills } = await makeStills(pictures, most);
  return { ...stills, timesNs: places.map((place) => found[place]!.timeNs) };
}

async function readLast(file: Uint8Array): Promise<{ picture: EncodedPicture; timeNs: bigint } | undefined> {
  let last: Message | undefined;
  for await (const message of readMcap(once(file))) last = { ...message, data: message.data.slice() };
  return last && { picture: readPicture(last), timeNs: last.logTimeNs };
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

function readPicture({ channel, data }: Message): EncodedPicture {
  const value = makeDecode(channel, { maxValues: MAX_VALUES })(data);
  const raw = readRawPicture(value);
  if (!raw) return findImage(value);
  return { bytes: raw.toPng(), mediaType: "image/png", width: raw.width, height: raw.height };
}
