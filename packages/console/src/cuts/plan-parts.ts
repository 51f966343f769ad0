import type { Recording, RecordingTopic } from "@downlink/protocol";
import type { ChosenTopics } from "../parts/choose-topics.ts";

export type Whole = Pick<Recording, "id" | "start" | "end" | "device">;

type Topic = Pick<RecordingTopic, "topic" | "start" | "end">;

/** A recording of which a part is wanted, with its topics as its agent reported them. */
export interface KnownWhole {
  readonly whole: Whole;
  readonly topics: readonly Topic[];
}

export interface Wanted {
  readonly topics: ChosenTopics;
  readonly span: { readonly startNs: bigint; readonly endNs: bigint };
}

/** The part that is asked for of one recording. */
export interface PlannedPart {
  readonly whole: Whole;
  readonly topics: readonly string[];
  readonly startNs: bigint;
  readonly endNs: bigint;
  /** It is all of the recording, which is then imported as it is. */
  readonly isWhole: boolean;
}

/** Returns the part of each recording that has some of what is wanted. A recording whose topics are not known has no part. */
export function planParts(known: readonly KnownWhole[], wanted: Wanted): PlannedPart[] {
  return known.flatMap((each) => planPart(each, wanted) ?? []);
}

function planPart({ whole, topics }: KnownWhole, { topics: chosen, span }: Wanted): PlannedPart | undefined {
  const startNs = laterOf(span.startNs, whole.start);
  const endNs = earlierOf(span.endNs, whole.end);
  if (startNs > endNs) return undefined;
  const names = namesOf(topics);
  const found = names.filter((name) => chosen?.has(name) ?? true);
  const isSilent = topics.every(({ topic, start, end }) => !found.includes(topic) || isApart(start, end));
  if (isSilent) return undefined;
  const isAllTime = startNs === whole.start && endNs === whole.end;
  return { whole, topics: found, startNs, endNs, isWhole: isAllTime && found.length === names.length };

  function isApart(start: bigint | undefined, end: bigint | undefined): boolean {
    return start !== undefined && end !== undefined && (start > endNs || end < startNs);
  }
}

const laterOf = (one: bigint, other: bigint) => (one > other ? one : other);
const earlierOf = (one: bigint, other: bigint) => (one < other ? one : other);

/** Returns the names of topics, each once. */
export function namesOf(topics: readonly Topic[]): string[] {
  return [...new Set(topics.map(({ topic }) => topic))];
}

/** Returns the fields of the calls that estimate the part and ask for it; without any of them all of the recording is meant. */
export function toFields({ topics, startNs, endNs, isWhole }: PlannedPart): {
  topics?: string[];
  start?: bigint;
  end?: bigint;
} {
  return isWhole ? {} : { topics: [...topics], start: startNs, end: endNs };
}
