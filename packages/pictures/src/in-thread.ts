// A picture may come from anywhere, and a small one can take minutes to unpack. So that is done in a thread, which can be ended.

import { extname } from "node:path";
import { DecodeError } from "@downlink/messages/value";
import { Piscina } from "piscina";
import type { EncodedPicture } from "./decode-picture.ts";
import { type JoinedStills, requireBounded, type Still } from "./make-stills.ts";
import type { FixesInput, PictureTasks, SentTask, StillsInput, TopicFixes, TopicStill } from "./picture-thread-main.ts";
import { threadEnvironment } from "./thread-environment.ts";

export type { JoinedStills, Still } from "./make-stills.ts";
export type { TopicFixes } from "./picture-thread-main.ts";

const LONGEST_MS = 20_000;
const IDLE_MS = 1000;

let pool: Piscina<SentTask, Result> | undefined;

/**
 * Counts how often each level comes in red, green and blue: 3 × 256 numbers. Throws {@link DecodeError} for a picture that is none, is too
 * large or takes too long.
 */
export async function countLevels(picture: EncodedPicture): Promise<Float64Array> {
  requireBounded(picture);
  const { bytes, mediaType, width, height } = picture; // others of its fields do not cross to a thread
  const input = { bytes, mediaType, width, height };
  return (await run({ name: "levels", input }, `A picture of ${width} × ${height} pixels`)) as Float64Array;
}

/** Makes stills of the last message of each camera in a file. Throws {@link DecodeError} for a file that cannot be read, or takes too long. */
export async function makeStills(input: StillsInput): Promise<readonly TopicStill[]> {
  return (await run({ name: "stills", input }, "The file")) as readonly TopicStill[];
}

/** Reads the positions that topics of a file state. Throws as {@link makeStills} does. */
export async function readFixes(input: FixesInput): Promise<readonly TopicFixes[]> {
  return (await run({ name: "fixes", input }, "The file")) as readonly TopicFixes[];
}

/** Joins stills of one size, of which there is one at least. */
export async function joinStills(stills: readonly Still[]): Promise<JoinedStills> {
  return (await run({ name: "join", input: stills }, "The stills")) as JoinedStills;
}

type Result = PictureTasks[keyof PictureTasks]["result"];

/** The tasks wait here, because the pool starts no thread for one that waits when another was ended. */
let before: Promise<unknown> = Promise.resolve();

async function run(task: SentTask, what: string): Promise<Result> {
  pool ??= openPool();
  const opened = pool;
  const turn = before.then(() => opened.run(task, { signal: AbortSignal.timeout(LONGEST_MS) }));
  before = turn.catch(() => undefined);
  try {
    return await turn;
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
    ...{ filename, minThreads: 0, maxThreads: 1, idleTimeout: IDLE_MS, execArgv: [], env: threadEnvironment() },
    resourceLimits: limits,
  });
}
