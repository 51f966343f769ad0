import { writeMessages } from "./write-messages.ts";

/** When a robot recorded whose clock was set in between: 60 messages of January 1970, and 60 of 2026. */
export const jumpedSpans = [
  { startNs: 186_000_000_000_000n, endNs: 186_005_900_000_000n },
  { startNs: 1_767_300_000_000_000_000n, endNs: 1_767_300_005_900_000_000n },
] as const;

export const jumpedMessages = jumpedSpans.flatMap(({ startNs }) =>
  Array.from({ length: 60 }, (_, at) => ({
    topic: "/imu",
    logTimeNs: startNs + BigInt(at) * 100_000_000n,
    data: Buffer.alloc(40),
  })),
);

/** Writes that recording; with chunks of so many bytes, by default each message has a chunk of its own. */
export function makeClockJump({
  isIndexed = true,
  chunkBytes = 1,
  messages = jumpedMessages,
} = {}): Promise<Uint8Array> {
  return writeMessages({ messages, topics: ["/imu"], schema: "s", compression: "", chunkBytes, isIndexed });
}
