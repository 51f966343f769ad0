import { makeDecode } from "@downlink/messages/decode";
import { findImage } from "@downlink/messages/image-bytes";
import { type Message, readMcap } from "@downlink/messages/read-mcap";
import { decodePicture, type EncodedPicture } from "./decode-picture.ts";
import { type JoinedStills, joinStills, makeStill, type Still } from "./make-stills.ts";
import { readRawPicture } from "./raw-picture.ts";

/** The tasks of the thread, with their results. */
export interface PictureTasks {
  readonly levels: { readonly input: EncodedPicture; readonly result: Float64Array };
  readonly stills: { readonly input: StillsInput; readonly result: readonly TopicStill[] };
  readonly join: { readonly input: readonly Still[]; readonly result: JoinedStills };
}

export interface StillsInput {
  /** An MCAP file. */
  readonly file: Uint8Array;
  /** The topics with pictures; of each the last message becomes a still. */
  readonly cameras: readonly Camera[];
  /** The most pixels of a still in either direction; a smaller picture keeps its size. */
  readonly most: number;
}

interface Camera {
  readonly topic: string;
  /** The size of its stills, once there are some. */
  readonly size: { readonly width: number; readonly height: number } | undefined;
}

/** A topic of which the file has a message: its still, or why there is none. */
export interface TopicStill {
  readonly topic: string;
  /** The log time of the message. */
  readonly timeNs: bigint;
  readonly still: Still | { readonly problem: string };
}

export type SentTask = {
  [N in keyof PictureTasks]: { readonly name: N; readonly input: PictureTasks[N]["input"] };
}[keyof PictureTasks];

const LEVELS = 256;
const MAX_VALUES = 100_000;

/** Runs one task in a thread of its own. Throws for a picture whose levels cannot be counted. */
// biome-ignore lint/style/noDefaultExport: the pool calls the default export of its file.
export default async function runTask(task: SentTask): Promise<PictureTasks[keyof PictureTasks]["result"]> {
  if (task.name === "levels") return countLevels(task.input);
  return task.name === "join" ? joinStills(task.input) : readStills(task.input);
}

async function countLevels(picture: EncodedPicture): Promise<Float64Array> {
  const rgba = await decodePicture(picture);
  const counts = new Float64Array(3 * LEVELS);
  for (let at = 0; at < rgba.length; at += 4)
    for (let channel = 0; channel < 3; channel += 1) counts[channel * LEVELS + rgba[at + channel]!]! += 1;
  return counts;
}

async function readStills({ file, cameras, most }: StillsInput): Promise<TopicStill[]> {
  const last = new Map<string, Message>();
  for await (const message of readMcap(once(file)))
    last.set(message.channel.topic, { ...message, data: message.data.slice() });
  const found: TopicStill[] = [];
  for (const { topic, size } of cameras) {
    const message = last.get(topic);
    if (!message) continue;
    const still = await tryStill(message, size ?? { most }).catch((error: Error) => ({ problem: error.message }));
    found.push({ topic, timeNs: message.logTimeNs, still });
  }
  return found;
}

async function tryStill(message: Message, to: Parameters<typeof makeStill>[1]): Promise<Still> {
  return makeStill(readPicture(message), to);
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
