import type { FactsTable } from "./facts-table.ts";
import type { OwnerFacts } from "./owner.ts";

/** The cards that are swapped in one storage root, by the ids in their markers. */
export interface CardFacts {
  /** Notes cards that belong to the store, before anything else is done about them. */
  noteCards(markerIds: readonly string[]): void;
  /** All cards that belong to the store; empty while there was never more than one. */
  cards(): readonly string[];
  /** Whether this state knows what is on the card. */
  hasSeenCard(markerId: string): boolean;
  noteCardSeen(markerId: string): void;
  /** Whether this state knows what is on every card: after a loss of the state it does not. */
  knowsAllCards(): boolean;
}

/** The entry among the cards for other cards that may exist and of which nothing is known. */
export const UNKNOWN_CARDS = "?";

/** Kept in the database alone: a state that loses it has seen no card. */
const SEEN_CARDS = "seenCards";

export function createCardFacts(table: FactsTable, { owner, rebind }: OwnerFacts): CardFacts {
  const cards = () => wordsOf(owner().cards);
  const seenCards = () => wordsOf(table.read(SEEN_CARDS));
  return {
    noteCards: (markerIds) => rebind({ cards: [...new Set([...cards(), ...markerIds])].join(" ") }),
    cards,
    hasSeenCard: (markerId) => seenCards().includes(markerId),
    noteCardSeen(markerId) {
      const seen = seenCards();
      if (!seen.includes(markerId)) table.record(SEEN_CARDS, [...seen, markerId].join(" "));
    },
    knowsAllCards() {
      const known = cards();
      const seen = new Set(known.length > 0 ? seenCards() : []);
      return known.every((card) => seen.has(card));
    },
  };
}

function wordsOf(text: string | undefined): string[] {
  return text ? text.split(" ") : [];
}
