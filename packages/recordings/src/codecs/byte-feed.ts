/** Bytes that come piece by piece, taken in the sizes that are needed. */
export interface ByteFeed {
  /** Exactly so many; undefined where there are fewer, and no more comes. */
  take(count: number): Promise<Uint8Array | undefined>;
  /** False where there are fewer. */
  skip(count: number): Promise<boolean>;
  /** Up to the end, to nowhere: whoever gives the pieces may check them when they were all taken. Answers how many there were in all. */
  drain(): Promise<number>;
  /** So far. */
  readonly takenBytes: number;
}

export function createByteFeed(pieces: AsyncIterable<Uint8Array>): ByteFeed {
  const iterator = pieces[Symbol.asyncIterator]();
  let held: Uint8Array = new Uint8Array(0);
  let givenBytes = 0;
  const more = async (): Promise<Uint8Array | undefined> => {
    const { done, value } = await iterator.next();
    if (done) return undefined;
    givenBytes += value.byteLength;
    return value;
  };
  return {
    async take(count) {
      const parts = [held];
      let bytes = held.byteLength;
      while (bytes < count) {
        const piece = await more();
        if (!piece) return undefined;
        parts.push(piece);
        bytes += piece.byteLength;
      }
      const joined = parts.length === 1 ? held : Buffer.concat(parts);
      held = joined.subarray(count);
      return joined.subarray(0, count);
    },
    async skip(count) {
      let left = count;
      while (left > held.byteLength) {
        left -= held.byteLength;
        const piece = await more();
        if (!piece) return false;
        held = piece;
      }
      held = held.subarray(left);
      return true;
    },
    async drain() {
      held = new Uint8Array(0);
      while (await more());
      return givenBytes;
    },
    get takenBytes() {
      return givenBytes - held.byteLength;
    },
  };
}
