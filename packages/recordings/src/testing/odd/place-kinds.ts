import type { Dice } from "./dice.ts";
import { type ChunkSpan, type Draft, type DraftItem, withRecords } from "./draft.ts";
import { insertInChunks, insertItems, unknownRecord } from "./insert.ts";
import type { OddKind } from "./kind.ts";
import {
  attachmentRecord,
  dataEndRecord,
  headerRecord,
  messageIndexRecord,
  metadataRecord,
  record,
} from "./record-bytes.ts";
import { makeChunk } from "./sound-draft.ts";

/** The records and their places, and those between. */
export const placeKinds: readonly OddKind[] = [
  { name: "empty chunks", grade: "legal", twist: (draft, dice) => insertEmptyChunks(draft, dice, [[0n, 0n]]) },
  { name: "empty chunks with times", grade: "wrong", twist: (draft, dice) => insertEmptyChunks(draft, dice, nonsense) },
  {
    name: "a file without messages",
    grade: "legal",
    twist: (draft) => withRecords(draft, (record) => (record.kind === "message" ? [] : [record])),
  },
  {
    name: "unknown records between chunks",
    grade: "legal",
    twist: (draft, dice) => insertItems(draft, dice, () => unknownRecord(dice)),
  },
  {
    name: "unknown records in chunks",
    grade: "legal",
    twist: (draft, dice) => insertInChunks(draft, dice, () => unknownRecord(dice)),
  },
  {
    name: "records of no length in chunks",
    grade: "legal",
    twist: (draft, dice) => insertInChunks(draft, dice, () => unknownRecord(dice, 0)),
  },
  {
    name: "records in chunks that belong outside",
    grade: "wrong",
    twist: (draft, dice) => insertInChunks(draft, dice, () => ({ kind: "raw", bytes: misplacedRecord(dice) })),
  },
  {
    name: "records of the type 0",
    grade: "wrong",
    twist: (draft, dice) => {
      const zero = { kind: "raw", bytes: record(0, [dice.bytes(dice.below(20))]) } as const;
      return dice.chance(0.5) ? insertItems(draft, dice, () => zero) : insertInChunks(draft, dice, () => zero);
    },
  },
  {
    name: "added fields in the header",
    grade: "legal",
    rivals: ["header"],
    twist: (draft, dice) => ({ ...draft, header: [headerRecord("odd", dice.bytes(dice.between(1, 20)))] }),
  },
  { name: "no header", grade: "wrong", rivals: ["header"], twist: (draft) => ({ ...draft, header: [] }) },
  {
    name: "two headers",
    grade: "wrong",
    rivals: ["header"],
    twist: (draft) => ({ ...draft, header: [headerRecord("odd"), headerRecord("again")] }),
  },
  {
    name: "a wrong checksum of the data section",
    grade: "wrong",
    rivals: ["data end"],
    twist: (draft) => mapDataEnd(draft, () => [{ kind: "dataEnd", crc: "wrong" }]),
  },
  { name: "two data ends", grade: "wrong", rivals: ["data end"], twist: splitByDataEnd },
  {
    name: "data behind the data end",
    grade: "wrong",
    rivals: ["data end"],
    twist(draft, dice) {
      const items = draft.items.filter(({ kind }) => kind !== "dataEnd");
      const at = placeOfLastMessages(items, dice);
      return { ...draft, items: [...items.slice(0, at), { kind: "dataEnd", crc: "none" }, ...items.slice(at)] };
    },
  },
  {
    name: "no data end before a summary",
    grade: "wrong",
    rivals: ["data end"],
    twist: (draft) => mapDataEnd(draft, () => []),
  },
  {
    name: "neither data end nor summary",
    grade: "legal",
    rivals: ["data end", "definitions"],
    twist: (draft) => ({
      ...mapDataEnd(draft, () => []),
      summary: { ...draft.summary, groups: [], hasOffsets: false },
    }),
  },
];

function misplacedRecord(dice: Dice): Uint8Array {
  const attachment = {
    logTimeNs: 1n,
    createTimeNs: 1n,
    name: "a",
    mediaType: "",
    data: dice.bytes(9),
    crc: "right",
  } as const;
  const index = { channelId: 1, entries: [{ timeNs: 1n, offset: 0 }] };
  return dice.pick([
    () => headerRecord("inside"),
    () => attachmentRecord(attachment),
    () => metadataRecord({ name: "inside", entries: [] }),
    () => messageIndexRecord(index),
    () => dataEndRecord(0),
  ])();
}

const nonsense: readonly (readonly [bigint, bigint])[] = [
  [5n, 2n],
  [0n, 2n ** 64n - 1n],
  [70n, 80n],
  [2n ** 64n - 1n, 0n],
];

function insertEmptyChunks(draft: Draft, dice: Dice, spans: readonly (readonly [bigint, bigint])[]): Draft {
  return insertItems(draft, dice, () => {
    const [startNs, endNs] = dice.pick(spans);
    const head = ({ uncompressedBytes }: ChunkSpan): ChunkSpan => ({ startNs, endNs, uncompressedBytes });
    const chunk = makeChunk(dice.chance(0.3) ? [unknownRecord(dice)] : [], draft.compression);
    const hasNoFrame = dice.chance(0.5);
    const frame = (bytes: Uint8Array): Uint8Array =>
      hasNoFrame && bytes.byteLength === 0 ? bytes : chunk.frame(bytes);
    return { ...chunk, head, frame };
  });
}

function mapDataEnd(draft: Draft, change: () => readonly DraftItem[]): Draft {
  return { ...draft, items: draft.items.flatMap((item) => (item.kind === "dataEnd" ? change() : [item])) };
}

/** Before one of the items with messages, so that some stand behind it. */
function placeOfLastMessages(items: readonly DraftItem[], dice: Dice): number {
  const places = items.flatMap(({ kind }, index) => (kind === "chunk" || kind === "message" ? [index] : []));
  return places.length === 0 ? items.length : dice.pick(places);
}

function splitByDataEnd(draft: Draft, dice: Dice): Draft {
  const items = draft.items.filter(({ kind }) => kind !== "dataEnd");
  const at = placeOfLastMessages(items, dice);
  const end = { kind: "dataEnd", crc: dice.pick(["right", "none"] as const) } as const;
  return { ...draft, items: [...items.slice(0, at), end, ...items.slice(at), end] };
}
