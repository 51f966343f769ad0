import type { WantedCut } from "@downlink/protocol";
import type { Findings } from "../inventory/tracked-file.ts";

interface Topic {
  readonly topic: string;
  readonly bytes?: number;
}

/**
 * Estimates the size of a cut by what was found of the file, without reading it: the messages of a topic are taken for evenly spread. A topic
 * whose size is not known counts as nothing.
 */
export function expectSize({ item, startNs, endNs }: Findings, { topics, start, end }: WantedCut): number {
  if (item === undefined || startNs === undefined || endNs === undefined) return 0;
  const from = start > startNs ? start : startNs;
  const to = end < endNs ? end : endNs;
  if (from > to) return 0;
  const share = startNs === endNs ? 1 : Number(to - from) / Number(endNs - startNs);
  const known = (JSON.parse(item) as { topics?: readonly Topic[] }).topics ?? [];
  const named = new Set(topics);
  return share * known.reduce((sum, { topic, bytes = 0 }) => sum + (named.has(topic) ? bytes : 0), 0);
}
