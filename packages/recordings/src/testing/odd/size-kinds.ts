import type { Dice } from "./dice.ts";
import { chunksOf, type Draft, type DraftItem, messagesOf, withChunks, withMessages } from "./draft.ts";
import { insertItems } from "./insert.ts";
import type { OddKind } from "./kind.ts";
import { compareTimes } from "./layout.ts";
import { type MessageFields, record } from "./record-bytes.ts";
import { makeChunk } from "./sound-draft.ts";

/** Files of more than what a reader reads at once. */
export const sizeKinds: readonly OddKind[] = [
  {
    name: "large messages",
    grade: "legal",
    isRare: true,
    twist: (draft, dice) =>
      withMessages(draft, (message) =>
        dice.chance(0.3) ? { ...message, data: cheapBytes(dice.between(20_000, 400_000), dice) } : message,
      ),
  },
  {
    name: "large unknown records",
    grade: "legal",
    twist: (draft, dice) =>
      insertItems(draft, dice, () => {
        const content = cheapBytes(dice.between(10_000, 200_000), dice);
        return { kind: "raw", bytes: record(dice.pick([0x10, 0x80, 0xff]), [content]) };
      }),
  },
  { name: "many chunks", grade: "legal", isRare: true, twist: addChunks },
  {
    name: "many messages in a chunk",
    grade: "legal",
    isRare: true,
    twist(draft, dice) {
      const [chunk] = dice.shuffle(chunksOf(draft));
      if (!chunk) return draft;
      const count = dice.between(500, 5000);
      return withChunks(draft, [chunk], ({ records }) => ({
        records: [...records, ...Array.from({ length: count }, () => dice.pick(records))],
      }));
    },
  },
  {
    name: "a large sparse chunk",
    grade: "legal",
    isRare: true,
    twist(draft, dice) {
      const data = new Uint8Array(dice.between(5, 20) * 1024 * 1024);
      const [message] = messagesOf(draft);
      const [chunk] = chunksOf(draft);
      if (!message || !chunk) return draft;
      const large = { kind: "message", message: { ...message, data } } as const;
      return withChunks(draft, [chunk], ({ records }) => ({ records: [...records, large] }));
    },
  },
];

/** So many random bytes would take longer than all that is tried with them. */
function cheapBytes(lengthBytes: number, dice: Dice): Uint8Array {
  return Buffer.alloc(lengthBytes, dice.bytes(300));
}

function addChunks(draft: Draft, dice: Dice): Draft {
  const messages = messagesOf(draft);
  const lastNs = messages
    .map(({ logTimeNs }) => logTimeNs)
    .sort(compareTimes)
    .at(-1);
  if (lastNs === undefined) return draft;
  const chunks = Array.from({ length: dice.between(100, 600) }, (_, index): DraftItem => {
    const logTimeNs = lastNs + 1n + BigInt(index);
    const again = (message: MessageFields) => ({ kind: "message", message: { ...message, logTimeNs } }) as const;
    return makeChunk(dice.pickSome(messages.slice(0, 3)).map(again), draft.compression);
  });
  const end = draft.items.findIndex(({ kind }) => kind === "dataEnd");
  return { ...draft, items: [...draft.items.slice(0, end), ...chunks, ...draft.items.slice(end)] };
}
