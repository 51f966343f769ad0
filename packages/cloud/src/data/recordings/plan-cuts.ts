/** A part of a recording: topics in a span of log time, both ends inclusive. */
export interface Part {
  /** Names, each once. */
  readonly topics: readonly string[];
  readonly startNs: bigint;
  readonly endNs: bigint;
}

/**
 * Returns the parts that are wanted and that none of `known` holds. They hold no message twice, neither among themselves nor with `known`,
 * so that nothing is sent twice and what is imported can be put together.
 */
export function missingParts(wanted: Part, known: readonly Part[]): Part[] {
  return known.reduce<Part[]>((left, part) => left.flatMap((one) => subtract(one, part)), [wanted]);
}

export function overlap(one: Part, other: Part): boolean {
  if (one.startNs > other.endNs || other.startNs > one.endNs) return false;
  const theirs = new Set(other.topics);
  return one.topics.some((topic) => theirs.has(topic));
}

/** The topics that only `one` has stay in one piece; of those that both have, the time before and after remains. */
function subtract(one: Part, other: Part): Part[] {
  if (!overlap(one, other)) return [one];
  const { startNs, endNs } = one;
  const theirs = new Set(other.topics);
  const [own, shared] = [
    one.topics.filter((topic) => !theirs.has(topic)),
    one.topics.filter((topic) => theirs.has(topic)),
  ];
  const rest = [
    { topics: own, startNs, endNs },
    { topics: shared, startNs, endNs: other.startNs - 1n },
    { topics: shared, startNs: other.endNs + 1n, endNs },
  ];
  return rest.filter((part) => part.topics.length > 0 && part.startNs <= part.endNs);
}
