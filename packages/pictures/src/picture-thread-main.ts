import { makeDecode } from "@downlink/messages/decode";
import { findImage } from "@downlink/messages/image-bytes";
import { type Position, readPosition } from "@downlink/messages/position";
import { type Channel, type Message, readMcap } from "@downlink/messages/read-mcap";
import { type Decode, DecodeError } from "@downlink/messages/value";
import { decodePicture, type EncodedPicture } from "./decode-picture.ts";
import { type JoinedStills, joinStills, makeStill, type Still } from "./make-stills.ts";
import { readRawPicture } from "./raw-picture.ts";

/** The tasks of the thread, with their results. */
export interface PictureTasks {
  readonly levels: { readonly input: EncodedPicture; readonly result: Float64Array };
  readonly stills: { readonly input: StillsInput; readonly result: readonly TopicStill[] };
  readonly fixes: { readonly input: FixesInput; readonly result: readonly TopicFixes[] };
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

export interface FixesInput {
  /** An MCAP file. */
  readonly file: Uint8Array;
  /** The topics with positions. */
  readonly topics: readonly string[];
  /** The most positions of a topic; of more, some are left out evenly. */
  readonly most: number;
}

/** The positions of a topic, in order of time. */
export interface TopicFixes {
  readonly topic: string;
  readonly fixes: readonly Fix[];
}

/** A position at the log time of its message. */
export interface Fix extends Position {
  readonly timeNs: bigint;
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
  if (task.name === "fixes") return readFixes(task.input);
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

/** Messages that cannot be read are passed over: they say where the robot was no more than those that are not there. */
async function readFixes({ file, topics, most }: FixesInput): Promise<TopicFixes[]> {
  const read = new Map<Channel, Decode | undefined>();
  const all = new Map(topics.map((topic): [string, Fix[]] => [topic, []]));
  for await (const { channel, logTimeNs: timeNs, data } of readMcap(once(file))) {
    if (!read.has(channel))
      read.set(
        channel,
        attempt(() => makeDecode(channel, { maxValues: MAX_VALUES })),
      );
    const decode = read.get(channel);
    const position = decode && attempt(() => readPosition(decode(data)));
    if (position) all.get(channel.topic)?.push({ timeNs, ...position });
  }
  return [...all].map(([topic, fixes]) => ({ topic, fixes: thinOut(fixes, most) }));
}

function attempt<T>(decode: () => T): T | undefined {
  try {
    return decode();
  } catch (error) {
    if (error instanceof DecodeError) return undefined;
    throw error;
  }
}

/** The first one and the last one stay. */
function thinOut<T>(all: readonly T[], most: number): T[] {
  if (all.length <= most) return [...all];
  return Array.from({ length: most }, (_, place) => all[Math.round((place * (all.length - 1)) / (most - 1))]!);
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
