import type { Feature, FeaturePart, TrainingMapping } from "@downlink/protocol";
import { TrainingError } from "../episodes/episode.ts";

/** A part with all that the mapping leaves out. */
export type WholePart = FeaturePart & Required<Pick<FeaturePart, "align" | "offsetMs">>;

/** A part of a feature, with all that the mapping says of it. */
export interface PlannedPart {
  readonly feature: string;
  readonly dtype: Feature["dtype"];
  readonly part: WholePart;
  readonly stamp: Stamp;
  /** Its messages are the clock of the rows, and need no values. */
  readonly isClock?: true;
}

export type Stamp = NonNullable<TrainingMapping["stamp"]>;

export interface PlannedFeature {
  readonly name: string;
  readonly dtype: Feature["dtype"];
  readonly shiftRows: number;
  readonly allowsNaN: boolean;
  readonly parts: readonly PlannedPart[];
}

/** A mapping with all that it leaves out. */
export type WholeMapping = TrainingMapping &
  Required<Pick<TrainingMapping, "fps" | "features" | "task" | "maxGapMs" | "onGap" | "minFrames" | "stamp">>;

/** The mapping, laid out for reading. */
export interface Plan {
  readonly mapping: WholeMapping;
  readonly features: readonly PlannedFeature[];
  /** All parts, with {@link clock} as the last one if a topic is the clock. */
  readonly parts: readonly PlannedPart[];
  readonly clock: PlannedPart | undefined;
  readonly maxGapNs: number;
  /** Messages whose log times are so far outside of an episode are read with it. */
  readonly marginNs: bigint;
  readonly maxShift: number;
}

/** The fields that a mapping may leave out. Another value gives other files: then the version of the writer is raised. */
const defaults = { task: { metadata: "task" }, maxGapMs: 100, onGap: "fail", minFrames: 30, stamp: "log" } as const;

/** Times that are not those of the log may be so much older or younger than that. */
const LATE_NS = 2_000_000_000n;

/** Throws {@link TrainingError} for a mapping without features, of which there are no rows. */
export function planMapping(given: TrainingMapping): Plan {
  const { features: wanted, fps } = given;
  if (!wanted || fps === undefined) throw new TrainingError("the mapping has no features, of which rows would be made");
  const mapping: WholeMapping = { ...defaults, ...given, features: wanted, fps };
  const { stamp, clock: by } = mapping;
  const features = Object.entries(wanted).map(([name, feature]) => planFeature(name, feature, stamp));
  const clock = by && "topic" in by ? planClock(by.topic, stamp) : undefined;
  const parts = [...features.flatMap((feature) => feature.parts), ...(clock ? [clock] : [])];
  const maxGapNs = Math.round(mapping.maxGapMs * 1e6);
  const offsetMs = Math.max(...parts.map(({ part }) => Math.abs(part.offsetMs)));
  const lateNs = parts.every((part) => part.stamp === "log") ? 0n : LATE_NS;
  return {
    ...{ mapping, features, parts, clock, maxGapNs },
    marginNs: BigInt(maxGapNs) + BigInt(Math.ceil(offsetMs * 1e6)) + lateNs,
    maxShift: Math.max(...features.map(({ shiftRows }) => shiftRows)),
  };
}

function planFeature(
  name: string,
  { dtype, shiftRows = 0, allowNaN = false, parts }: Feature,
  stamp: Stamp,
): PlannedFeature {
  const planned = parts.map((part): PlannedPart => {
    return { feature: name, dtype, part: { align: "hold", offsetMs: 0, ...part }, stamp: part.stamp ?? stamp };
  });
  return { name, dtype, shiftRows, allowsNaN: allowNaN, parts: planned };
}

function planClock(topic: string, stamp: Stamp): PlannedPart {
  return { feature: "clock", dtype: "bool", part: { topic, align: "nearest", offsetMs: 0 }, stamp, isClock: true };
}

/** Returns the topics of some parts, each once, by name. */
export function topicsOf(parts: readonly PlannedPart[]): string[] {
  return [...new Set(parts.map(({ part }) => part.topic))].sort();
}
