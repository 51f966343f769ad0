import { type ImportEstimate, recordingCuts, recordings } from "@downlink/protocol";
import { useManyQueries } from "../api/use-many-queries.ts";
import type { Query } from "../api/use-query.ts";
import { usePause } from "../browser/use-pause.ts";
import { type KnownWhole, type PlannedPart, planParts, toFields, type Wanted, type Whole } from "./plan-parts.ts";

const MAX_TOPICS = 2000;

/** Asks for the topics of some recordings. */
export function useKnownTopics(projectId: string, wholes: readonly Whole[]): Query<readonly KnownWhole[]> {
  const inputs = wholes.map(({ id }) => ({ keyOrId: id, projectId, limit: MAX_TOPICS }));
  const { data, ...query } = useManyQueries(recordings.topics, inputs);
  const isOld = query.isOld || data?.length !== wholes.length;
  return { ...query, data: isOld ? undefined : data?.map((topics, index) => ({ whole: wholes[index]!, topics })) };
}

/** Typing and choosing are over for the moment. */
const PAUSE_MS = 300;

export interface Estimated {
  /** The parts of what is wanted at this moment. */
  readonly parts: readonly PlannedPart[];
  /** Undefined while they are not estimated. */
  readonly estimates: readonly ImportEstimate[] | undefined;
  readonly failure: Query<unknown>["failure"];
  again(): void;
}

interface Asked {
  readonly projectId: string;
  readonly known: readonly KnownWhole[];
  /** Undefined where it cannot be read. */
  readonly wanted: Wanted | undefined;
}

/** Estimates the parts of recordings that are wanted, once the choice did not change for a moment. */
export function useEstimate({ projectId, known, wanted }: Asked): Estimated {
  const parts = wanted ? planParts(known, wanted) : [];
  const inputs = parts.map((part) => ({ keyOrId: part.whole.id, projectId, ...toFields(part) }));
  const settled = usePause(inputs, PAUSE_MS);
  const isSettled = settled === inputs;
  const { data, isOld, failure, again } = useManyQueries(recordingCuts.estimate, settled);
  const isKnown = isSettled && !isOld && data?.length === parts.length && !failure;
  return { parts, estimates: isKnown ? data : undefined, failure: isSettled ? failure : undefined, again };
}
