import { compileGlobs } from "@downlink/protocol/globs";
import { invalid, refuse } from "../../core/errors.ts";
import type { RecordingModel, RecordingTopicModel } from "../../db/generated/models.ts";
import type { Part } from "./plan-cuts.ts";

/** The fields of a call that ask for a part of a recording. */
export interface PartFields {
  readonly topics?: readonly string[] | undefined;
  readonly start?: bigint | undefined;
  readonly end?: bigint | undefined;
}

export function isPart({ topics, start, end }: PartFields): boolean {
  return [topics, start, end].some((given) => given !== undefined);
}

type Topic = Pick<RecordingTopicModel, "topic" | "startNs" | "endNs">;

/** When a recording has messages of its topics, as far as its index says that. */
export type TopicTimes = ReadonlyMap<string, readonly Topic[]>;

export function timesOf(topics: readonly Topic[]): TopicTimes {
  return Map.groupBy(topics, ({ topic }) => topic);
}

/** A part of more topics is as good as the whole, and its names would fill the answers to the agent. */
const MAX_TOPICS = 1000;
const MAX_NAME_BYTES = 64 * 1024;

/** Throws where nothing of the recording is asked for. */
export function choosePart(recording: Span, times: TopicTimes, fields: PartFields): Part {
  if (fields.start !== undefined && fields.end !== undefined && fields.start > fields.end)
    invalid("start", "must not be after end");
  const time = chooseTime(recording, fields);
  if (time.startNs > recording.endNs) invalid("start", "must not be after the end of the recording");
  if (time.startNs > time.endNs) invalid("end", "must not be before the start of the recording");
  const part = { topics: chooseTopics([...times.keys()].sort(), fields.topics), ...time };
  if (part.topics.every((topic) => isSilent(times, topic, part)))
    invalid("topics", "must have a message between start and end");
  return part;
}

type Span = Pick<RecordingModel, "startNs" | "endNs">;

/** Returns the time of the recording that is asked for; its end is before its start where that is none. */
export function chooseTime({ startNs, endNs }: Span, { start = startNs, end = endNs }: PartFields): Span {
  return { startNs: laterOf(start, startNs), endNs: earlierOf(end, endNs) };
}

const laterOf = (one: bigint, other: bigint) => (one > other ? one : other);
const earlierOf = (one: bigint, other: bigint) => (one < other ? one : other);

function chooseTopics(names: readonly string[], asked: readonly string[] | undefined): string[] {
  if (names.length === 0) refuse("Conflict", "the topics of the recording are not known; import it whole");
  const known = new Set(names);
  const chosen = new Set(asked ? [] : names);
  for (const name of asked ?? []) {
    const found = known.has(name) ? [name] : names.filter(compileName(name));
    if (found.length === 0) invalid("topics", `must name topics of the recording, which has no "${name}"`);
    for (const topic of found) chosen.add(topic);
  }
  requireFew(chosen);
  return [...chosen].sort();
}

function requireFew(topics: ReadonlySet<string>): void {
  const bytes = nameBytes([...topics]);
  if (topics.size <= MAX_TOPICS && bytes <= MAX_NAME_BYTES) return;
  const most = `at most ${MAX_TOPICS}, whose names have ${MAX_NAME_BYTES} bytes together`;
  refuse(
    "Conflict",
    `the part has ${topics.size} topics, and may have ${most}: choose fewer, or import the whole recording`,
  );
}

/** Returns how much room the names of topics take. */
export function nameBytes(topics: readonly string[]): number {
  return topics.reduce((sum, topic) => sum + Buffer.byteLength(topic), 0);
}

function compileName(name: string): (topic: string) => boolean {
  try {
    return compileGlobs([name], { isCaseSensitive: true });
  } catch (error) {
    if (error instanceof RangeError) invalid("topics", `must be names and globs: ${error.message}`);
    throw error;
  }
}

/** Says whether the index shows that a topic has no message then. */
export function isSilent(times: TopicTimes, name: string, { startNs, endNs }: Span): boolean {
  return (times.get(name) ?? []).every(
    ({ startNs: first, endNs: last }) => first !== null && last !== null && (first > endNs || last < startNs),
  );
}
