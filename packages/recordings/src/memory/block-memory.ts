import { freeOwn } from "./free-memory.ts";

/** Memory for large blocks, which is used again, because V8 looks for garbage after each few dozen megabytes of new memory. */
export interface BlockMemory {
  /** Its content is what was in it before. */
  take(sizeBytes: number): Uint8Array;
  /** The bytes may not be used afterwards. */
  giveBack(bytes: Uint8Array): void;
}

interface Kept {
  /** Smaller blocks are not kept. */
  readonly leastBytes?: number;
  readonly mostBlocks?: number;
}

/** Memory that was not taken for so long is freed. */
const KEPT_MS = 10_000;

export function createBlockMemory({ leastBytes = 1024 * 1024, mostBlocks = 3 }: Kept = {}): BlockMemory {
  const kept: Uint8Array[] = [];
  let timer: NodeJS.Timeout | undefined;
  const freeAll = (): void => {
    timer = undefined;
    for (const bytes of kept.splice(0)) freeOwn(bytes);
  };
  return {
    take(sizeBytes) {
      const at = kept.findIndex(({ byteLength }) => byteLength === sizeBytes);
      return at >= 0 ? kept.splice(at, 1)[0]! : new Uint8Array(Buffer.allocUnsafeSlow(sizeBytes).buffer);
    },
    giveBack(bytes) {
      if (bytes.byteLength < leastBytes) return freeOwn(bytes);
      kept.push(bytes);
      if (kept.length > mostBlocks) freeOwn(kept.shift()!);
      timer ??= setTimeout(freeAll, KEPT_MS).unref();
      timer.refresh();
    },
  };
}

/** All that is fetched ahead in this process shares this memory. */
export const blockMemory: BlockMemory = createBlockMemory();
