import { openCursor, readBytes, readSize, readU16, readU32, readU64 } from "../../field-cursor.ts";
import { scanMessages } from "../../mcap/scan-messages.ts";
import { RecordingFault } from "../../reasons.ts";
import type { StoredPart } from "./stored-part.ts";

/** Faults unless the message indexes behind a chunk name exactly its messages. */
export function refuseUntrueIndexes(loaded: Uint8Array, indexes: Uint8Array, part: StoredPart): void {
  const told = readEntries(indexes, part.place);
  let found = 0;
  scanMessages(loaded, part.place, ({ start, channelId, timeHigh, timeLow }) => {
    const entry = told.get(start);
    const timeNs = (BigInt(timeHigh) << 32n) + BigInt(timeLow);
    if (entry?.channelId !== channelId || entry.timeNs !== timeNs) throw untrue(part);
    found += 1;
  });
  if (found !== told.size) throw untrue(part);
}

/** By the offset of the message in its chunk. */
function readEntries(bytes: Uint8Array, place: string): Map<number, { channelId: number; timeNs: bigint }> {
  const cursor = openCursor(bytes, `the indexes behind ${place}`, "BadChunk");
  const entries = new Map<number, { channelId: number; timeNs: bigint }>();
  while (cursor.position < bytes.byteLength) {
    readBytes(cursor, 9);
    const channelId = readU16(cursor);
    const end = readU32(cursor) + cursor.position;
    while (cursor.position < end) {
      const timeNs = readU64(cursor);
      entries.set(readSize(cursor), { channelId, timeNs });
    }
  }
  return entries;
}

function untrue({ place }: StoredPart): RecordingFault {
  return new RecordingFault(
    "BadChunk",
    `the indexes behind ${place} contradict its messages; the file is damaged there`,
  );
}
