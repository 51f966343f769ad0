import { addChannels } from "./definition-kinds.ts";
import type { Dice } from "./dice.ts";
import { alsoLie, type Draft, type FooterPlaces, type Lie, type SummaryGroup, withSummary } from "./draft.ts";
import type { OddKind } from "./kind.ts";
import type { IndexedPlace } from "./record-bytes.ts";

/** The summary section as a whole, and the footer. Spec: MCAP "Summary Section", "Footer". */
export const endKinds: readonly OddKind[] = [
  {
    name: "no summary",
    grade: "legal",
    rivals: ["definitions"],
    twist: (draft) => withSummary(draft, () => ({ groups: [], hasOffsets: false })),
  },
  {
    name: "no summary offsets",
    grade: "legal",
    twist: (draft) => withSummary(draft, () => ({ hasOffsets: false })),
  },
  {
    name: "no checksum of the summary",
    grade: "legal",
    twist: (draft) => withSummary(draft, () => ({ crc: "none" })),
  },
  {
    name: "a wrong checksum of the summary",
    grade: "wrong",
    twist: (draft) => withSummary(draft, () => ({ crc: "wrong" })),
  },
  without("a summary without statistics", ["statistics"]),
  without("a summary without chunk indexes", ["chunkIndexes"]),
  without("a summary without channels", ["channels"]),
  without("a summary without schemas", ["schemas"]),
  without("a summary without indexes of attachments and metadata", ["attachmentIndexes", "metadataIndexes"]),
  {
    name: "a summary in another order",
    grade: "legal",
    twist: (draft, dice) => withSummary(draft, ({ groups }) => ({ groups: orderGroups(dice.shuffle(groups)) })),
  },
  {
    name: "a summary that is cut off",
    grade: "wrong",
    rivals: ["definitions"],
    twist: (draft, dice) =>
      damageSection(draft, dice, (section) => section.subarray(0, dice.below(section.byteLength))),
  },
  {
    name: "rubbish in the summary",
    grade: "wrong",
    rivals: ["definitions"],
    twist: (draft, dice) =>
      damageSection(draft, dice, (section) => {
        const damaged = new Uint8Array(section);
        const rubbish = dice.bytes(dice.between(1, 12)).subarray(0, section.byteLength);
        damaged.set(rubbish, dice.below(section.byteLength - rubbish.byteLength + 1));
        return damaged;
      }),
  },
  {
    name: "summary offsets that are wrong",
    grade: "wrong",
    twist: (draft, dice) => lieInOffsets(draft, dice),
  },
  {
    name: "many channels, and summary offsets that are wrong",
    grade: "wrong",
    isRare: true,
    twist: (draft, dice) => lieInOffsets(addChannels(draft, 20_000), dice),
  },
  wrongFooter("a footer without its summary", () => ({ summaryStart: 0, summaryOffsetStart: 0 })),
  wrongFooter("a footer that points elsewhere", (truth, dice) =>
    dice.pick([
      { summaryStart: truth.summaryStart + 1 },
      { summaryStart: 8 },
      { summaryStart: Math.max(0, truth.summaryStart - 13) },
      { summaryStart: 2 ** 40 },
      { summaryOffsetStart: 8 },
      { summaryOffsetStart: truth.summaryOffsetStart + 1 },
      { summaryOffsetStart: truth.summaryStart },
    ]),
  ),
];

function without(name: string, missing: readonly SummaryGroup[]): OddKind {
  const twist = (draft: Draft): Draft =>
    withSummary(draft, ({ groups }) => ({ groups: groups.filter((group) => !missing.includes(group)) }));
  return { name, grade: "legal", rivals: ["definitions"], twist };
}

/** Spec: schemas and channels before what names them. */
function orderGroups(groups: readonly SummaryGroup[]): SummaryGroup[] {
  const first = groups.filter((group) => group === "schemas");
  const second = groups.filter((group) => group === "channels");
  return [...first, ...second, ...groups.filter((group) => group !== "schemas" && group !== "channels")];
}

/** Readers of a large summary find its parts by them. */
function lieInOffsets(draft: Draft, dice: Dice): Draft {
  const difference = dice.pick([1, -1, 35, 2 ** 40]);
  return withSummary(draft, ({ offsets }) => ({
    hasOffsets: true,
    offsets: alsoLie(offsets, (list) => {
      const chosen = new Set(dice.pickSome(list));
      const lies = [
        (place: IndexedPlace) => ({ ...place, offset: Math.max(0, place.offset + difference) }),
        (place: IndexedPlace) => ({ ...place, lengthBytes: Math.max(0, place.lengthBytes + difference) }),
      ];
      const lie = dice.pick(lies);
      if (dice.chance(0.3)) return list.filter((each) => !chosen.has(each));
      return list.map((each) => (chosen.has(each) ? ([each[0], lie(each[1])] as const) : each));
    }),
  }));
}

function damageSection(draft: Draft, dice: Dice, damage: Lie<Uint8Array>): Draft {
  return withSummary(draft, ({ section }) => ({
    section: alsoLie(section, damage),
    crc: dice.pick(["right", "stale", "none"] as const),
  }));
}

function wrongFooter(name: string, lie: (truth: FooterPlaces, dice: Dice) => Partial<FooterPlaces>): OddKind {
  const twist = (draft: Draft, dice: Dice): Draft =>
    withSummary(draft, ({ footer }) => ({
      footer: alsoLie(footer, (truth) => ({ ...truth, ...lie(truth, dice) })),
      crc: dice.pick(["right", "stale", "none"] as const),
    }));
  return { name, grade: "wrong", rivals: ["footer"], twist };
}
