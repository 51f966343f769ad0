import type { BagConnection } from "../bag1/read-connections.ts";
import type { BagMessages } from "../export/write-bag/fill-chunks.ts";
import { type BagCompression, writeBag } from "../export/write-bag/write-bag.ts";
import { collect } from "./collect.ts";

export interface BagMessage {
  readonly connection: BagConnection;
  readonly logTimeNs: bigint;
  readonly data: Uint8Array;
}

export interface BagWriting {
  readonly compression?: BagCompression;
  readonly batchLength?: number;
  readonly mostHeldBytes?: number;
}

export function writeBagMessages(messages: readonly BagMessage[], options: BagWriting = {}): Promise<Uint8Array> {
  const { compression = "", batchLength = 100, mostHeldBytes } = options;
  const held = mostHeldBytes === undefined ? undefined : () => mostHeldBytes;
  return collect(writeBag(() => inBatches(messages, batchLength), compression, held));
}

export async function* inBatches(messages: readonly BagMessage[], batchLength: number): AsyncGenerator<BagMessages> {
  for (let at = 0; at < messages.length; at += batchLength) yield toColumns(messages.slice(at, at + batchLength));
}

export function toColumns(messages: readonly BagMessage[]): BagMessages {
  const ends: number[] = [];
  for (const { data } of messages) ends.push((ends.at(-1) ?? 0) + data.byteLength);
  return {
    count: messages.length,
    connectionAt: (index) => messages[index]!.connection,
    timesNs: BigUint64Array.from(messages, ({ logTimeNs }) => logTimeNs),
    bytes: Buffer.concat(messages.map(({ data }) => data)),
    startAt: (index) => ends[index - 1] ?? 0,
    endAt: (index) => ends[index]!,
  };
}

/** Messages of these sizes, a millisecond apart. */
export function makeBagMessages(sizesBytes: readonly number[], startNs: bigint): BagMessage[] {
  const connection = makeConnection("/a");
  return sizesBytes.map((sizeBytes, index) => ({
    connection,
    logTimeNs: startNs + BigInt(index) * 1_000_000n,
    data: Buffer.alloc(sizeBytes, index),
  }));
}

/** Makes a connection whose header has the required fields and one more. */
export function makeConnection(topic: string, field: string | Buffer = "latching=1"): BagConnection {
  const fields = ["type=std_msgs/Empty", "md5sum=d41d8cd98f00b204e9800998ecf8427e", "message_definition=", field];
  const parts = fields.flatMap((text) => {
    const bytes = Buffer.from(text);
    const length = Buffer.alloc(4);
    length.writeUInt32LE(bytes.byteLength);
    return [length, bytes];
  });
  return { topic: Buffer.from(topic), header: Buffer.concat(parts) };
}
