import type { Decompressor } from "../../codecs/decompress.ts";
import { EMPTY_MESSAGE_BYTES, opcodes, RECORD_HEAD_BYTES } from "../../mcap/opcodes.ts";
import { freeMemory } from "../../memory/free-memory.ts";
import { cutRecords, type HugeRecord } from "./cut-records.ts";
import { toMcapRecords } from "./select-messages.ts";
import { type QuickSelection, UNWANTED } from "./selection.ts";
import { type LargePart, type MessageKey, type OfferedMessage, SmallestMessages } from "./smallest-messages.ts";
import { ContentChangedError, contentInPieces, type ReadRange, type StoredRun, visitorOf } from "./stored-run.ts";

interface Gathering {
  readonly run: StoredRun;
  readonly selection: QuickSelection;
  /** Messages up to this one were given. */
  readonly after: MessageKey | undefined;
  readonly maxBytes: number;
  readonly read: ReadRange;
  readonly decompress: Decompressor;
}

/**
 * Answers the next messages of a run that is too large to be held, in order of log time: it reads all of the run, and keeps the messages
 * that come first. So memory is bounded by the part, and a run that is not in order is read once for each part.
 */
export async function gatherLarge(gathering: Gathering): Promise<LargePart> {
  const { run, selection, after, maxBytes } = gathering;
  const smallest = new SmallestMessages(after, maxBytes);
  const offering: Offering = { run, selection, smallest };
  for await (const cut of cutRecords(contentInPieces(run, gathering), run)) {
    if (cut.kind === "huge") offerHuge(cut, offering);
    else {
      offerRecords(cut.bytes, offering);
      freeMemory(cut.bytes);
    }
    if (run.isInOrder && smallest.hasMore) break;
  }
  return smallest.take();
}

interface Offering extends Pick<Gathering, "run" | "selection"> {
  readonly smallest: SmallestMessages;
}

function offerHuge({ channelId: id, timeNs, head: records, at: hugeAt }: HugeRecord, offering: Offering): void {
  const channelId = offering.selection.idOf(id);
  if (channelId === UNWANTED) return;
  const [timeHigh, timeLow] = [Number(timeNs >> 32n), Number(timeNs & 0xffff_ffffn)];
  offer({ records, start: 0, end: records.byteLength, channelId, timeHigh, timeLow, hugeAt }, offering);
}

function offerRecords(bytes: Uint8Array, offering: Offering): void {
  const { run, selection } = offering;
  const visit = visitorOf(run);
  if (!visit) {
    offerMcapRecords(bytes, selection.ids, offering);
    return;
  }
  const records = toMcapRecords(bytes, visit, { run, selection });
  offerMcapRecords(records, undefined, offering);
  freeMemory(records);
}

/** `ids` are undefined if the records have the ids of the written file already. */
function offerMcapRecords(records: Uint8Array, ids: Int32Array | undefined, offering: Offering): void {
  const view = new DataView(records.buffer, records.byteOffset, records.byteLength);
  for (let at = 0; at < records.byteLength; ) {
    const contentBytes = view.getUint32(at + 1, true) + view.getUint32(at + 5, true) * 2 ** 32;
    const end = at + RECORD_HEAD_BYTES + contentBytes;
    if (end > records.byteLength) throw new ContentChangedError(offering.run.place);
    if (records[at] === opcodes.message && end - at >= EMPTY_MESSAGE_BYTES) {
      const id = view.getUint16(at + RECORD_HEAD_BYTES, true);
      const channelId = ids ? ids[id]! : id;
      if (channelId !== UNWANTED) {
        const [timeHigh, timeLow] = [view.getUint32(at + 19, true), view.getUint32(at + 15, true)];
        offer({ records, start: at, end, channelId, timeHigh, timeLow, hugeAt: undefined }, offering);
      }
    }
    at = end;
  }
}

function offer(message: OfferedMessage, { run, selection, smallest }: Offering): void {
  if (run.isWithin || selection.isInWindow(message.timeHigh, message.timeLow)) smallest.add(message);
}
