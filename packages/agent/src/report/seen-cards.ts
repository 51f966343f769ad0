import type { Inventory } from "../inventory/inventory.ts";
import type { StateFacts } from "../state/state-facts.ts";
import { createListingBarrier } from "./listing.ts";

/** Knows for which cards this state knows the files. */
export interface SeenCards {
  /** Notes that a scan has found everything on the card that is in. */
  noteScan(): void;
  /** Whether the files of all cards are known: until then, absence from a listing says nothing. */
  knowsAll(): boolean;
}

/** A card counts as seen once all files that the scan found were examined: only then are they in a listing. */
export function createSeenCards({ facts, inventory }: { facts: StateFacts; inventory: Inventory }): SeenCards {
  let looking: { readonly card: string; readonly barrier: ReturnType<typeof createListingBarrier> } | undefined;
  return {
    noteScan() {
      const card = facts.owner().rootMarkerId;
      if (card === undefined || card === looking?.card || facts.hasSeenCard(card)) return;
      looking = { card, barrier: createListingBarrier() };
      looking.barrier.isOpen(inventory, true);
    },
    knowsAll() {
      // A file that is away cannot be examined; the card's next scan starts again.
      if (looking && (looking.card !== facts.owner().rootMarkerId || inventory.isAway(looking.card)))
        looking = undefined;
      if (looking?.barrier.isOpen(inventory, true)) {
        facts.noteCardSeen(looking.card);
        looking = undefined;
      }
      return facts.knowsAllCards();
    },
  };
}
