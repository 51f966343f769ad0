import type { Dice } from "./dice.ts";
import { chunksOf, type Draft, type DraftItem, messagesOf, withChunks, withMessages, withRecords } from "./draft.ts";
import type { OddKind } from "./kind.ts";

/** The recorded messages, and their order. */
export const contentKinds: readonly OddKind[] = [
  {
    name: "unsorted messages in a chunk",
    grade: "legal",
    twist: (draft, dice) =>
      withChunks(draft, chunksOf(draft), ({ records }) => {
        const messages = dice.shuffle(records.filter(({ kind }) => kind === "message"));
        return { records: [...records.filter(({ kind }) => kind !== "message"), ...messages] };
      }),
  },
  { name: "overlapping chunks", grade: "legal", twist: overlap },
  {
    name: "chunks in another order than their times",
    grade: "legal",
    rivals: ["definitions"],
    twist(draft, dice) {
      const turned = dice.shuffle(
        chunksOf(draft).map(({ records }) => records.filter(({ kind }) => kind === "message")),
      );
      const definitions = chunksOf(draft).map(({ records }) => records.filter(({ kind }) => kind !== "message"));
      const all = definitions.flat();
      let index = 0;
      return withChunks(draft, chunksOf(draft), () => {
        const records = [...(index === 0 ? all : []), ...turned[index]!];
        index += 1;
        return { records };
      });
    },
  },
  {
    name: "equal times",
    grade: "legal",
    rivals: ["times"],
    twist: (draft, dice) => {
      const times = messagesOf(draft).map(({ logTimeNs }) => logTimeNs);
      const timeNs = dice.pick(times);
      return withMessages(draft, (message) => (dice.chance(0.6) ? { ...message, logTimeNs: timeNs } : message));
    },
  },
  {
    name: "the time 0",
    grade: "legal",
    twist: (draft, dice) => changeSomeTimes(draft, dice, 0n),
  },
  {
    name: "the time 2^63-1",
    grade: "legal",
    twist: (draft, dice) => changeSomeTimes(draft, dice, 2n ** 63n - 1n),
  },
  { name: "times from 2^63 on", grade: "wrong", twist: goBeyond },
  {
    name: "publish times from 2^63 on",
    grade: "wrong",
    twist: (draft, dice) =>
      withMessages(draft, (message) =>
        dice.chance(0.3) ? { ...message, publishTimeNs: dice.pick([2n ** 63n, 2n ** 64n - 1n]) } : message,
      ),
  },
  {
    name: "messages without data",
    grade: "legal",
    twist: (draft, dice) =>
      withMessages(draft, (message) => (dice.chance(0.5) ? { ...message, data: new Uint8Array(0) } : message)),
  },
  {
    name: "the same message again",
    grade: "legal",
    twist: (draft, dice) =>
      withRecords(draft, (record) => (record.kind === "message" && dice.chance(0.3) ? [record, record] : [record])),
  },
];

/** Messages outside of chunks. */
export const looseKinds: readonly OddKind[] = [
  { name: "loose messages", grade: "legal", rivals: ["loose"], twist: (draft) => loosen(draft, () => true) },
  {
    name: "loose messages beside chunks",
    grade: "legal",
    rivals: ["loose"],
    twist: (draft, dice) => loosen(draft, () => dice.chance(0.5)),
  },
];

/** Chunks for which `isLoose` says so are replaced by what stands in them. */
function loosen(draft: Draft, isLoose: () => boolean): Draft {
  const items = draft.items.flatMap((item): readonly DraftItem[] =>
    item.kind === "chunk" && isLoose() ? item.records : [item],
  );
  return { ...draft, items };
}

/** The messages of each chunk begin before the one before ends. */
function overlap(draft: Draft): Draft {
  let index = 0;
  const [first] = messagesOf(draft);
  return withChunks(draft, chunksOf(draft), ({ records }) => {
    index += 1;
    let timeNs = first!.logTimeNs + BigInt(index);
    const moved = records.map((record) => {
      if (record.kind !== "message") return record;
      timeNs += 7n;
      return { ...record, message: { ...record.message, logTimeNs: timeNs } };
    });
    return { records: moved };
  });
}

function changeSomeTimes(draft: Draft, dice: Dice, logTimeNs: bigint): Draft {
  return withMessages(draft, (message) => (dice.chance(0.2) ? { ...message, logTimeNs } : message));
}

/** A recording's times have to fit into signed 64 bits. */
function goBeyond(draft: Draft, dice: Dice): Draft {
  return withRecords(draft, (record) => {
    if (record.kind !== "message" || !dice.chance(0.2)) return [record];
    const logTimeNs = dice.pick([2n ** 63n, 2n ** 63n + 5n, 2n ** 64n - 1n]);
    return [{ ...record, message: { ...record.message, logTimeNs }, isLost: true }];
  });
}
