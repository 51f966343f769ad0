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

export type Topics = readonly Pick<RecordingTopicModel, "topic" | "startNs" | "endNs">[];

/** Throws where nothing of the recording is asked for. */
export function choosePart(recording: Span, topics: Topics, fields: PartFields): Part {
  if (fields.start !== undefined && fields.end !== undefined && fields.start > fields.end)
    invalid("start", "must not be after end");
  const time = chooseTime(recording, fields);
  if (time.startNs > recording.endNs) invalid("start", "must not be after the end of the recording");
  if (time.startNs > time.endNs) invalid("end", "must not be before the start of the recording");
  const part = { topics: chooseTopics(topics, fields.topics), ...time };
  if (part.topics.every((topic) => isSilent(topics, topic, part)))
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

function chooseTopics(topics: Topics, asked: readonly string[] | undefined): string[] {
  const names = [...new Set(topics.map(({ topic }) => topic))].sort();
  if (names.length === 0) refuse("Conflict", "the topics of the recording are not known; import it whole");
  if (!asked) return names;
  const chosen = new Set<string>();
  for (const name of asked) {
    const found = names.includes(name) ? [name] : names.filter(compileName(name));
    if (found.length === 0) invalid("topics", `must name topics of the recording, which has no "${name}"`);
    for (const topic of found) chosen.add(topic);
  }
  return [...chosen].sort();
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
export function isSilent(topics: Topics, name: string, { startNs, endNs }: Omit<Part, "topics">): boolean {
  return topics.every(
    ({ topic, startNs: first, endNs: last }) =>
      topic !== name || (first !== null && last !== null && (first > endNs || last < startNs)),
  );
}
