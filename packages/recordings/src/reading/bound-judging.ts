import { countReads } from "../sources/source.ts";
import type { ReadContext } from "./read-context.ts";

/** The bytes that may be read to judge whether places of a damaged file make sense. */
export interface BoundedJudging {
  /** Reads through this are counted. */
  readonly context: ReadContext;
  /**
   * Whether so much was read that nothing more is judged: a file that was made for it has many chunks that look alike up to its end, and
   * each would be read.
   */
  isExhausted(): boolean;
}

export function boundJudging(context: ReadContext): BoundedJudging {
  const source = countReads(context.source);
  const mostBytes = FLOOR_BYTES + MOST_SHARE * source.sizeBytes;
  return { context: { ...context, source }, isExhausted: () => source.bytesRead > mostBytes };
}

const FLOOR_BYTES = 64 * 1024 * 1024;
const MOST_SHARE = 16;
