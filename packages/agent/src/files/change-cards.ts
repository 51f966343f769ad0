import { join } from "node:path";
import type { Log } from "../diagnostics/log.ts";
import { writeDurableFile } from "../durable/durable-file.ts";
import type { Inventory } from "../inventory/inventory.ts";
import type { StateFacts } from "../state/state-facts.ts";
import type { Clock } from "../system/clock.ts";
import { isFileSystemError } from "../system/system-error.ts";
import { isCardOf, makeCardMarker, ownerTag } from "./card-marker.ts";
import { isMountPoint } from "./mount-point.ts";
import { formatMarker, lookForMarker, MARKER_NAME } from "./root-marker.ts";

export interface CardContext {
  readonly root: string;
  readonly facts: StateFacts;
  readonly inventory: Inventory;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Follows the cards: the files of a card that is out are away. Another card that is in is taken over where it belongs to the store or is
 * fresh, but never one with another owner's marker, and no directory on which nothing is mounted. True when anything changed. Callers keep
 * scans and deletions from running meanwhile.
 */
export async function changeCards(ctx: CardContext): Promise<boolean> {
  const { facts, inventory, root } = ctx;
  const current = facts.owner().rootMarkerId;
  if (current === undefined) return false; // The first root counts as no change.
  const { is, id } = await lookForMarker(root);
  if (is === "unknown") return false;
  if (id === current) return inventory.isAway(current) && putIn(ctx, current, current);
  const card = is === "marked" ? ours(ctx, id) : await markFresh(ctx);
  if (card !== undefined) return putIn(ctx, current, card);
  return inventory.hasFilesHere() && takeOut(ctx, current);
}

/** Returns the card where it belongs to the store. */
function ours({ facts, inventory }: CardContext, id: string): string | undefined {
  const tag = ownerTag(facts.owner());
  return facts.cards().includes(id) || inventory.isAway(id) || (tag !== undefined && isCardOf(id, tag))
    ? id
    : undefined;
}

/** Gives a new card its marker. Undefined where there is no card, where it cannot be written, or while the owner is not known. */
async function markFresh({ root, facts, log }: CardContext): Promise<string | undefined> {
  const tag = ownerTag(facts.owner());
  try {
    if (tag === undefined || !(await isMountPoint(root))) return undefined;
    const card = makeCardMarker(tag);
    // The marker is written first: whatever happens next, the card itself says whose it is.
    writeDurableFile(join(root, MARKER_NAME), formatMarker(card));
    log.info({ card, root }, "a fresh card has got its marker");
    return card;
  } catch (error) {
    if (!isFileSystemError(error)) throw error;
    log.debug({ root, reason: error.message }, "no fresh card");
    return undefined;
  }
}

function putIn({ inventory, facts, clock, log }: CardContext, out: string, into: string): true {
  facts.noteCards([out, into]);
  inventory.swapCards({ out, into, atNs: clock.nowNs() });
  facts.noteRoot(into);
  const { away = 0 } = inventory.countByState();
  log.info({ card: into, files: inventory.size - away, away }, "a card is in");
  return true;
}

function takeOut({ inventory, clock, log }: CardContext, out: string): true {
  inventory.swapCards({ out, into: undefined, atNs: clock.nowNs() });
  log.info({ card: out, away: inventory.size }, "a card is out");
  return true;
}
