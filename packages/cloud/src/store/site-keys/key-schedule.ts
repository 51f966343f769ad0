// Links to a self-hosted site are signed with keys of that site alone, so that a stolen link or key opens nothing elsewhere. Keys change
// without a failed download: the next key is handed out a day before it is used, and is used only once the site has kept it; a former one
// is accepted until the last link that was signed with it has ended, and a day longer for the bodies that began by then.

import type { SiteKeyModel } from "../../db/generated/models.ts";

const DAY_NS = 24n * 3600n * 1_000_000_000n;
/** So often another key is made. */
const ROTATED_AFTER_NS = 30n * DAY_NS;
/** So long the site has a key before links are signed with it, unless it is the only one. */
const AHEAD_NS = DAY_NS;
/** No link lasts longer than an upload link: a day. */
const ACCEPTED_AFTER_NS = 2n * DAY_NS;

type Key = Pick<SiteKeyModel, "createdAtNs" | "savedAtNs">;

/** Returns the key to sign with; undefined while the site has kept none. The keys are in the order in which they were made. */
export function signingKey<K extends Key>(keys: readonly K[], nowNs: bigint): K | undefined {
  const saved = keys.filter(({ savedAtNs }) => savedAtNs !== null);
  return saved.findLast(({ savedAtNs }) => savedAtNs! + AHEAD_NS <= nowNs) ?? saved[0];
}

/** Says whether another key is to be made, so that it can be handed out a day before it is used. */
export function isKeyDue(keys: readonly Key[], nowNs: bigint): boolean {
  const newest = keys.at(-1);
  return newest === undefined || newest.createdAtNs + ROTATED_AFTER_NS - AHEAD_NS <= nowNs;
}

/** Returns the keys that the site need not accept any more: links are signed with a later one for so long that theirs have ended. */
export function endedKeys<K extends Key>(keys: readonly K[], nowNs: bigint): K[] {
  const used = signingKey(keys, nowNs - ACCEPTED_AFTER_NS);
  return used === undefined ? [] : keys.slice(0, keys.indexOf(used));
}
