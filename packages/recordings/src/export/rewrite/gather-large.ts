import type { Decompressor } from "../../codecs/decompress.ts";
import { emptyMessageBytes, opcodes, recordHeadBytes } from "../../mcap/opcodes.ts";
import { freeMemory } from "../../memory/free-memory.ts";
import { type Cut, cutRecords, type HugeRecord } from "./cut-records.ts";
import type { Fragment } from "./fragment.ts";
import { contentInPieces, type ReadRange } from "./large-content.ts";
import { toMcapRecords } from "./select-messages.ts";
import { type QuickSelection, unwanted } from "./selection.ts";
import { createSmallest, type MessageKey, type Smallest } from "./smallest-messages.ts";
import { ContentChanged, type StoredRun } from "./stored-run.ts";

export interface LargePart {
  /** Of a huge message only its head. */
  fragment: Fragment;
  /** Of the last message in it. */
  last: MessageKey | undefined;
  hasMore: boolean;
  /** The only message of the fragment, where that is too large to be held: its record among the decompressed ones. */
  hugeAt: number | undefined;
}

interface Gathering {
  run: StoredRun;
  selection: QuickSelection;
  /** What comes up to here was given. */
  after: MessageKey | undefined;
  maxBytes: number;
  read: ReadRange;
  decompress: Decompressor;
}

/**
 * The next messages of a run that is too large to be held, in order of log time: reads all of it, and keeps those that come first. So
 * memory is bounded by the part, and a run that is not in order is read once for each.
 */
export async function gatherLarge(gathering: Gathering): Promise<LargePart> {
  const { run, selection, after, maxBytes } = gathering;
  const smallest = createSmallest({ after, maxBytes });
  const scan = createScan({ run, selection, smallest });
  for await (const cut of cutRecords(contentInPieces(run, gathering), run)) {
    scan(cut);
    if (cut.kind === "records") freeMemory(cut.bytes);
    if (run.isInOrder && smallest.hasMore) break;
  }
  return smallest.take();
}

function createScan({ run, selection, smallest }: Pick<Gathering, "run" | "selection"> & { smallest: Smallest }) {
  const isBag = run.format !== "mcap";
  const ids = isBag ? undefined : selection.ids;
  const addHuge = ({ channelId: id, timeNs, head: records, at: hugeAt }: HugeRecord): void => {
    const channelId = selection.idOf(id);
    const [timeHigh, timeLow] = [Number(timeNs >> 32n), Number(timeNs & 0xffff_ffffn)];
    if (channelId !== unwanted && (run.isWithin || selection.isInWindow(timeHigh, timeLow)))
      smallest.add({ records, start: 0, end: records.byteLength, channelId, timeHigh, timeLow, hugeAt });
  };
  const addRecords = (bytes: Uint8Array): void => {
    const records = isBag ? toMcapRecords(bytes, run, selection) : bytes;
    const view = new DataView(records.buffer, records.byteOffset, records.byteLength);
    for (let at = 0; at < records.byteLength; ) {
      const contentBytes = view.getUint32(at + 1, true) + view.getUint32(at + 5, true) * 2 ** 32;
      const end = at + recordHeadBytes + contentBytes;
      if (end > records.byteLength) throw new ContentChanged(run.place);
      if (records[at] === opcodes.message && end - at >= emptyMessageBytes) {
        const id = view.getUint16(at + recordHeadBytes, true);
        const channelId = ids ? ids[id]! : id;
        const [timeHigh, timeLow] = [view.getUint32(at + 19, true), view.getUint32(at + 15, true)];
        if (channelId !== unwanted && (run.isWithin || selection.isInWindow(timeHigh, timeLow)))
          smallest.add({ records, start: at, end, channelId, timeHigh, timeLow, hugeAt: undefined });
      }
      at = end;
    }
  };
  return (cut: Cut): void => {
    if (cut.kind === "huge") addHuge(cut);
    else addRecords(cut.bytes);
  };
}
