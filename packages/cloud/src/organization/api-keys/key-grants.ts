// A key grants only what it holds itself: new capabilities, and all of them where it enables a key. It may take away
// what it does not hold, so that a key for emergencies can disable a stronger one. We show a key that is limited to
// some projects only keys within those, not all, because it could not judge what the others are for.

import { EVERY_CAPABILITY } from "@downlink/protocol";

interface Power {
  readonly capabilities: readonly string[];
  readonly enabled: boolean;
}

/** Returns those of `wanted` that `held` does not cover. */
export function findLacking(held: readonly string[], wanted: readonly string[]): string[] {
  if (held.includes(EVERY_CAPABILITY)) return [];
  return wanted.filter((capability) => !held.includes(capability));
}

/**
 * Returns what a change gives to a key: capabilities that it did not have, and all of its capabilities if the change enables the key.
 * Taking capabilities away grants nothing.
 */
export function listGrants(before: Power, after: Power): string[] {
  if (after.enabled && !before.enabled) return [...after.capabilities];
  return findLacking(before.capabilities, after.capabilities);
}

/** Says whether the key is enabled, for every project, and for everything. */
export function isUnlimited({ capabilities, enabled, projectIds }: Power & { projectIds: readonly string[] }): boolean {
  return enabled && projectIds.length === 0 && capabilities.includes(EVERY_CAPABILITY);
}
