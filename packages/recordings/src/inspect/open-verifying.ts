import { crc32 } from "node:zlib";
import type { ReadContext } from "../reading/read-context.ts";
import { createSurvey } from "../survey/survey.ts";
import { ActivityLog } from "../verified/activity-log.ts";
import { createDamageLog } from "../verified/damage-log.ts";
import { ForwardReader } from "../verified/forward-reader.ts";
import type { Verifying } from "../verified/verifying.ts";

interface Taking {
  readonly isSalvage: boolean;
  /** See `Verifying`. */
  readonly add: Verifying["add"];
  /** Gets every byte of the file that is read, once and in order. */
  readonly onBlock?: (block: Uint8Array) => void;
}

/** Begins to read a whole recording: for its index, or to say what is readable of it. */
export function openVerifying(context: ReadContext, { isSalvage, add, onBlock }: Taking): Verifying {
  const activity = new ActivityLog();
  const checksum = createChecksum();
  const reader = new ForwardReader(context, (block) => {
    onBlock?.(block);
    checksum.add(block);
  });
  return {
    context,
    reader,
    isSalvage,
    activity,
    survey: createSurvey({ mayLackSchemas: isSalvage }),
    damage: createDamageLog(),
    schemaPlaces: new Map(),
    coveredEnd: Number.POSITIVE_INFINITY,
    add(run) {
      activity.add(run);
      return add(run);
    },
    checksumUpTo: (offset) => checksum.upTo(offset, reader),
  };
}

/** Keeps the CRC-32 of all blocks so far, and of what stands before each of the last few blocks. */
function createChecksum() {
  const before: { offset: number; crc: number }[] = [];
  let crc = 0;
  let position = 0;
  return {
    add(block: Uint8Array): void {
      before.push({ offset: position, crc });
      if (before.length > KEPT_BLOCKS) before.shift();
      crc = crc32(block, crc);
      position += block.byteLength;
    },
    async upTo(offset: number, reader: ForwardReader): Promise<number> {
      const from = before.findLast((block) => block.offset <= offset) ?? { offset: 0, crc: 0 };
      return crc32(await reader.fetch(from.offset, offset - from.offset), from.crc);
    },
  };
}

const KEPT_BLOCKS = 8;
