/** Gives bytes that come piece by piece in the sizes that are needed. */
export interface ByteFeed {
  /** Takes exactly so many bytes. Answers undefined if fewer bytes are left. */
  take(count: number): Promise<Uint8Array | undefined>;
  /** Passes over so many bytes. Answers false if fewer bytes are left. */
  skip(count: number): Promise<boolean>;
  /**
   * Takes all remaining bytes and drops them, because the source of the pieces may check them once all were taken. Answers how many bytes
   * came in all.
   */
  drain(): Promise<number>;
  /** How many bytes were taken or passed over so far. */
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
