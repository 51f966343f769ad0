/** The items of a list, some at a time. With each `next` the reader passes how many characters the last batch became. */
export type Batches<Item> = AsyncGenerator<readonly Item[], void, number>;

/**
 * Yields a page in batches of some megabytes each, so that it never has to be in memory as a whole: the size of the items is known only
 * after some of them were read. `read` returns the items of some ids; `firstCount` of them are read at first.
 */
export async function* readInBatches<Id, Item>(
  ids: readonly Id[],
  read: (ids: readonly Id[]) => Promise<readonly Item[]>,
  firstCount = FIRST_COUNT,
): Batches<Item> {
  let count = firstCount;
  for (let at = 0; at < ids.length; ) {
    const batch = ids.slice(at, at + count);
    const sizeChars = yield await read(batch);
    at += batch.length;
    const fitting = Math.floor((BATCH_CHARS * batch.length) / Math.max(sizeChars, 1));
    count = Math.max(1, Math.min(fitting, count * MAX_GROWTH));
  }
}

/** A list of at most this many small items is read and answered at once. */
export const FEW = 64;

const FIRST_COUNT = 16;
const BATCH_CHARS = 4 * 1024 * 1024;
/** Batches grow no faster than this, because large items may stand behind small ones. */
const MAX_GROWTH = 8;
