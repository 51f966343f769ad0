/** Items of a list, some at a time. Whoever reads them tells with each `next` how many characters the last batch became. */
export type Batches<Item> = AsyncGenerator<readonly Item[], void, number>;

/**
 * A page in batches of some megabytes each, so that nobody need hold it whole: how large its items are shows only when some
 * of them were read. `read` answers the items of some ids.
 */
export async function* inBatches<Id, Item>(
  ids: readonly Id[],
  read: (ids: readonly Id[]) => Promise<readonly Item[]>,
): Batches<Item> {
  let count = FIRST_COUNT;
  for (let at = 0; at < ids.length; ) {
    const batch = ids.slice(at, at + count);
    const sizeChars = yield await read(batch);
    at += batch.length;
    const fitting = Math.floor((BATCH_CHARS * batch.length) / Math.max(sizeChars, 1));
    count = Math.max(1, Math.min(fitting, count * MAX_GROWTH));
  }
}

/** A list of so many small items is read and answered at once. */
export const FEW = 64;

const FIRST_COUNT = 16;
const BATCH_CHARS = 4 * 1024 * 1024;
/** Large items may stand behind small ones. */
const MAX_GROWTH = 8;
