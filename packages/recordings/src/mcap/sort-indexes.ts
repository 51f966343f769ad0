import { opcodes, RECORD_HEAD_BYTES } from "./opcodes.ts";

/**
 * Sorts the entries of each message index by the places of the messages in the chunk. Answers undefined if the bytes are no message
 * indexes.
 */
export function sortIndexes(indexes: Uint8Array): Uint8Array | undefined {
  const sorted = new Uint8Array(indexes);
  const view = new DataView(sorted.buffer);
  for (let at = 0; at < sorted.byteLength; ) {
    if (at + HEAD_BYTES > sorted.byteLength || sorted[at] !== opcodes.messageIndex) return undefined;
    const end = at + RECORD_HEAD_BYTES + Number(view.getBigUint64(at + 1, true));
    const entriesBytes = view.getUint32(at + HEAD_BYTES - 4, true);
    if (end > sorted.byteLength || at + HEAD_BYTES + entriesBytes !== end || entriesBytes % ENTRY_BYTES !== 0)
      return undefined;
    sortEntries(sorted.subarray(at + HEAD_BYTES, end));
    at = end;
  }
  return sorted;
}

const HEAD_BYTES = RECORD_HEAD_BYTES + 6;
const ENTRY_BYTES = 16;

function sortEntries(entries: Uint8Array): void {
  const from = new Uint8Array(entries);
  const view = new DataView(from.buffer);
  const count = entries.byteLength / ENTRY_BYTES;
  const offsets = Float64Array.from({ length: count }, (_, row) =>
    Number(view.getBigUint64(row * ENTRY_BYTES + 8, true)),
  );
  const rows = Uint32Array.from({ length: count }, (_, row) => row).sort((a, b) => offsets[a]! - offsets[b]!);
  for (const [place, row] of rows.entries()) {
    entries.set(from.subarray(row * ENTRY_BYTES, (row + 1) * ENTRY_BYTES), place * ENTRY_BYTES);
  }
}
