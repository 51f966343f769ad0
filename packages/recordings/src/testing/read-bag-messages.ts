import { decompressFrameSync } from "lz4-napi";
import { loadBzip2 } from "../codecs/load-bzip2.ts";

export interface BagMessage {
  readonly topic: string;
  readonly logTimeNs: bigint;
  readonly data: Uint8Array;
}

/** The messages of a finished ROS 1 bag, read by an independent library. */
export async function readBagMessages(bytes: Uint8Array): Promise<BagMessage[]> {
  // Here, because loading it makes code of text, which some tests of the pages do not allow.
  const { Bag } = await import("@foxglove/rosbag");
  const bzip2 = await loadBzip2();
  const filelike = {
    size: () => bytes.byteLength,
    read: async (offset: number, length: number) => new Uint8Array(bytes.subarray(offset, offset + length)),
  };
  const decompress = {
    lz4: (chunk: Uint8Array) => decompressFrameSync(Buffer.from(chunk)),
    bz2: (chunk: Uint8Array, size: number) => bzip2.decompress(chunk, size),
  };
  const bag = new Bag(filelike, { decompress, parse: false });
  await bag.open();
  if (bag.chunkInfos.length === 0) return []; // the library has no iterator over nothing
  // The library starts at the first chunk of the file, which need not be the earliest.
  const starts = bag.chunkInfos.map(({ startTime }) => startTime).sort((a, b) => a.sec - b.sec || a.nsec - b.nsec);
  const messages: BagMessage[] = [];
  for await (const { topic, timestamp, data } of bag.messageIterator({ start: starts[0] })) {
    const logTimeNs = BigInt(timestamp.sec) * 1_000_000_000n + BigInt(timestamp.nsec);
    messages.push({ topic, logTimeNs, data: new Uint8Array(data) });
  }
  return messages;
}
