import type { Feature, FeaturePart, TrainingMapping } from "@downlink/protocol";

/** A part of a feature, with all that the mapping says of it. */
export interface PlannedPart {
  readonly feature: string;
  readonly dtype: Feature["dtype"];
  readonly part: FeaturePart;
  readonly stamp: TrainingMapping["stamp"];
}

export interface PlannedFeature {
  readonly name: string;
  readonly feature: Feature;
  readonly parts: readonly PlannedPart[];
}

/** The mapping, laid out for reading. */
export interface Plan {
  readonly mapping: TrainingMapping;
  readonly features: readonly PlannedFeature[];
  /** All parts, with {@link clock} as the last one if a topic is the clock. */
  readonly parts: readonly PlannedPart[];
  readonly clock: PlannedPart | undefined;
  readonly maxGapNs: number;
  /** Messages whose log times are so far outside of an episode are read with it. */
  readonly marginNs: bigint;
  readonly maxShift: number;
}

/** Times that are not those of the log may be so much older or younger than that. */
const LATE_NS = 2_000_000_000n;

export function planMapping(mapping: TrainingMapping): Plan {
  const { features: named, stamp, clock: by } = mapping;
  const features = Object.entries(named).map(([name, feature]): PlannedFeature => {
    const parts = feature.parts.map((part) => ({
      feature: name,
      dtype: feature.dtype,
      part,
      stamp: part.stamp ?? stamp,
    }));
    return { name, feature, parts };
  });
  const clock = "topic" in by ? planClock(by.topic, stamp) : undefined;
  const parts = [...features.flatMap((feature) => feature.parts), ...(clock ? [clock] : [])];
  const maxGapNs = Math.round(mapping.maxGapMs * 1e6);
  const offsetMs = Math.max(...parts.map(({ part }) => Math.abs(part.offsetMs)));
  const lateNs = parts.every((part) => part.stamp === "log") ? 0n : LATE_NS;
  return {
    ...{ mapping, features, parts, clock, maxGapNs },
    marginNs: BigInt(maxGapNs) + BigInt(Math.ceil(offsetMs * 1e6)) + lateNs,
    maxShift: Math.max(...features.map(({ feature }) => feature.shiftRows)),
  };
}

/** The messages of a clock need no values. */
function planClock(topic: string, stamp: TrainingMapping["stamp"]): PlannedPart {
  return { feature: "clock", dtype: "bool", part: { topic, align: "nearest", offsetMs: 0 }, stamp };
}

/** Returns the topics of some parts, each once, by name. */
export function topicsOf(parts: readonly PlannedPart[]): string[] {
  return [...new Set(parts.map(({ part }) => part.topic))].sort();
}
