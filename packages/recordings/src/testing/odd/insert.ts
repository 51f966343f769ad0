import type { Dice } from "./dice.ts";
import { chunksOf, type Draft, type DraftItem, type DraftRecord, withChunks } from "./draft.ts";
import { record } from "./record-bytes.ts";

/** Puts one to three items at places before the end of the data section. */
export function insertItems(draft: Draft, dice: Dice, make: () => DraftItem): Draft {
  const items = [...draft.items];
  for (let left = dice.between(1, 3); left > 0; left -= 1) {
    const end = items.findIndex(({ kind }) => kind === "dataEnd");
    items.splice(dice.below((end < 0 ? items.length : end) + 1), 0, make());
  }
  return { ...draft, items };
}

/** Puts records at places in some chunks. */
export function insertInChunks(draft: Draft, dice: Dice, make: () => DraftRecord): Draft {
  return withChunks(draft, dice.pickSome(chunksOf(draft)), ({ records }) => {
    const filled = [...records];
    for (let left = dice.between(1, 3); left > 0; left -= 1) filled.splice(dice.below(filled.length + 1), 0, make());
    return { records: filled };
  });
}

/** Makes a record of an application, or of a later version of the format. */
export function unknownRecord(dice: Dice, most = 40): DraftRecord {
  const opcode = dice.pick([0x10, 0x7f, 0x80, 0xa5, 0xff]);
  return { kind: "raw", bytes: record(opcode, [dice.bytes(dice.below(most + 1))]) };
}
