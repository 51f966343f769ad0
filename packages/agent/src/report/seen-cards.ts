import type { Inventory } from "../inventory/inventory.ts";
import type { StateFacts } from "../state/state-facts.ts";
import { createListingBarrier } from "./listing.ts";

/** Of which cards this state knows what is on them. */
export interface SeenCards {
  /** A scan has found everything on the card that is in. */
  noteScan(): void;
  /** Whether that is so of all: before, absence from a listing says nothing. */
  knowsAll(): boolean;
}

/** A card counts as seen once all that the scan found was looked at: only then is it in a listing. */
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
      // What is away is not looked at; the card's next scan begins anew.
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
