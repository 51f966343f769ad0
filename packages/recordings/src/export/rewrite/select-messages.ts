import { visitRecords as visitBagRecords } from "../../bag1/chunk-records.ts";
import { type ScannedMessage, scanMessages } from "../../mcap/scan-messages.ts";
import { RecordingFault } from "../../reasons.ts";
import { createFragmentBuilder } from "./fragment-builder.ts";
import { createMessageList, type Selected } from "./message-list.ts";
import type { StoredPart } from "./stored-part.ts";

export interface Selection {
  /** For every channel of the source its id in the written file, or `unwanted`. */
  ids: ReadonlyMap<number, number>;
  /** Log times, inclusive. */
  startNs?: bigint;
  endNs?: bigint;
}

export const unwanted = -1;

/** Faults with `BadChunk` when the run holds what its index does not tell of. */
export function selectMessages(bytes: Uint8Array, part: StoredPart, selection: Selection): Selected {
  if (part.format === "mcap") return selectRecords(bytes, part, selection);
  const ids = new Map(Array.from(selection.ids.values(), (id) => [id, id]));
  return selectRecords(toMcapRecords(bytes, part, selection.ids), part, { ...selection, ids });
}

function selectRecords(bytes: Uint8Array, part: StoredPart, { ids, startNs, endNs }: Selection): Selected {
  const list = createMessageList(bytes);
  const isInRun = isWithin(part.startNs, part.endNs);
  const isInWindow = isWithin(startNs ?? part.startNs, endNs ?? part.endNs);
  scanMessages(bytes, part.place, (message) => {
    const id = ids.get(message.channelId);
    if (id === undefined || !isInRun(message)) throw untold(part);
    if (id !== unwanted && isInWindow(message)) list.add(message, id);
  });
  return list.toSelected();
}

function isWithin(startNs: bigint, endNs: bigint): (message: ScannedMessage) => boolean {
  const [startHigh, startLow] = splitTime(startNs);
  const [endHigh, endLow] = splitTime(endNs);
  return ({ timeHigh, timeLow }) =>
    (timeHigh > startHigh || (timeHigh === startHigh && timeLow >= startLow)) &&
    (timeHigh < endHigh || (timeHigh === endHigh && timeLow <= endLow));
}

/** Windows may begin before 1970. */
function splitTime(timeNs: bigint): [high: number, low: number] {
  return [Number(timeNs >> 32n), Number(timeNs & 0xffff_ffffn)];
}

/** A bag's messages as they come, with the ids of the written file. */
function toMcapRecords(bytes: Uint8Array, part: StoredPart, ids: ReadonlyMap<number, number>): Uint8Array {
  const builder = createFragmentBuilder();
  visitBagRecords(bytes, part.place, {
    message(message) {
      const id = ids.get(message.channelId);
      if (id === undefined) throw untold(part);
      if (id !== unwanted) builder.addMessage(message, id);
    },
  });
  return builder.take().records;
}

function untold({ place }: StoredPart): RecordingFault {
  const text = `${place} holds messages that its index does not tell of; the file is damaged there`;
  return new RecordingFault("BadChunk", text);
}
