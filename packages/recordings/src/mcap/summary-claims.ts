import { growColumn } from "../memory/columns.ts";
import { firstFrom } from "../memory/sorted-places.ts";
import { openCursor, readSize } from "../reading/field-cursor.ts";
import type { Verifying } from "../verified/verifying.ts";
import { opcodes } from "./opcodes.ts";
import type { RecordHead } from "./record-head.ts";
import { readChunkIndex } from "./records.ts";

/**
 * The contents of the file as the summary claims them. Nothing of it is believed; but where it claims more than was found, something may be
 * lost that left no trace, such as a chunk whose opcode is damaged and which is now a record of an unknown kind. That is reported as
 * damage.
 */
export interface SummaryClaims {
  foundChunk(offset: number): void;
  /** Reads a statistics or chunk index record. */
  read(head: RecordHead): Promise<void>;
  /** `messageCount`: how many messages were found. */
  compare(messageCount: number): void;
}

export function createSummaryClaims({ reader, damage }: Verifying): SummaryClaims {
  let offsets = new Float64Array(64);
  let count = 0;
  let claimedMessages = 0;
  const missing: number[] = [];

  const wasFound = (offset: number): boolean => {
    const row = firstFrom(offsets, offset, count);
    return row < count && offsets[row] === offset;
  };
  return {
    foundChunk(offset) {
      if (count === offsets.length) offsets = growColumn(offsets);
      offsets[count] = offset;
      count += 1;
    },
    async read({ opcode, contentOffset, contentBytes, offset }) {
      if (opcode === opcodes.statistics && contentBytes >= 8) {
        claimedMessages = readSize(
          openCursor(await reader.fetch(contentOffset, 8), `the statistics at byte ${offset}`),
        );
      }
      if (opcode !== opcodes.chunkIndex || missing.length === MOST_MISSING || contentBytes > MOST_INDEX_BYTES) return;
      const cursor = openCursor(await reader.fetch(contentOffset, contentBytes), `the chunk index at byte ${offset}`);
      const index = readChunkIndex(cursor);
      if (index.uncompressedBytes > 0 && !wasFound(index.offset)) missing.push(index.offset);
    },
    compare(messageCount) {
      if (missing.length > 0) {
        const more = missing.length === MOST_MISSING ? " and more" : "";
        damage.addUntraced(
          missing[0]!,
          `the summary names chunks that are not there, at bytes ${missing.join(", ")}${more}`,
        );
      } else if (claimedMessages > messageCount) {
        damage.addUntraced(0, `the statistics count ${claimedMessages} messages, and ${messageCount} were found`);
      }
    },
  };
}

const MOST_MISSING = 10;
/** A chunk index of 65,536 channels fits. */
const MOST_INDEX_BYTES = 1024 * 1024;
