import type { ImportStatus } from "@downlink/protocol";
import { bits } from "../timeline/paint-row.ts";

/** The parts of the lanes that the legend shows or hides, each by its own. */
export const PARTS = ["imported", "onItsWay", "edgeOnly", "failed", "event"] as const;
export type Part = (typeof PARTS)[number];
export type Shown = ReadonlySet<Part>;

export function shownParts(hidden: readonly Part[]): Shown {
  return new Set(PARTS.filter((part) => !hidden.includes(part)));
}

/** Returns the bits of the cells that are painted: all but those of hidden parts. */
export function shownBits(shown: Shown): number {
  return PARTS.filter((part) => !shown.has(part)).reduce((mask, part) => mask & ~bits[part], 255);
}

const STATUSES = {
  imported: ["complete"],
  onItsWay: ["pending", "importing"],
  edgeOnly: ["none"],
  failed: ["failed"],
  event: [],
} as const satisfies Readonly<Record<Part, readonly ImportStatus[]>>;

/** Returns the import statuses of the recordings that are shown; undefined for all of them. */
export function shownStatuses(shown: Shown): ImportStatus[] | undefined {
  const statuses = PARTS.filter((part) => shown.has(part)).flatMap((part) => STATUSES[part]);
  return statuses.length === 5 ? undefined : statuses;
}
