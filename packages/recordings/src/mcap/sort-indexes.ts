import { opcodes, recordHeadBytes } from "./opcodes.ts";

/**
 * Sorts the entries of each message index by the places of the messages in the chunk. Answers undefined if the bytes are no message
 * indexes.
 */
export function sortIndexes(indexes: Uint8Array): Uint8Array | undefined {
  const sorted = new Uint8Array(indexes);
  const view = new DataView(sorted.buffer);
  for (let at = 0; at < sorted.byteLength; ) {
    if (at + headBytes > sorted.byteLength || sorted[at] !== opcodes.messageIndex) return undefined;
    const end = at + recordHeadBytes + Number(view.getBigUint64(at + 1, true));
    const entriesBytes = view.getUint32(at + headBytes - 4, true);
    if (end > sorted.byteLength || at + headBytes + entriesBytes !== end || entriesBytes % entryBytes !== 0)
      return undefined;
    sortEntries(sorted.subarray(at + headBytes, end));
    at = end;
  }
  return sorted;
}

const headBytes = recordHeadBytes + 6;
const entryBytes = 16;

function sortEntries(entries: Uint8Array): void {
  const from = new Uint8Array(entries);
  const view = new DataView(from.buffer);
  const count = entries.byteLength / entryBytes;
  const offsets = Float64Array.from({ length: count }, (_, row) =>
    Number(view.getBigUint64(row * entryBytes + 8, true)),
  );
  const rows = Uint32Array.from({ length: count }, (_, row) => row).sort((a, b) => offsets[a]! - offsets[b]!);
  for (const [place, row] of rows.entries()) {
    entries.set(from.subarray(row * entryBytes, (row + 1) * entryBytes), place * entryBytes);
  }
}
