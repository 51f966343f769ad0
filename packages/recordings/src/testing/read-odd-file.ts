import type { OddMcap } from "./odd-mcap.ts";
import { readSlowly } from "./slow-mcap-reader.ts";

/** A file of which nobody knows what was written: the slow reader says what stands in it. */
export function readOddFile(
  bytes: Uint8Array,
  about: Pick<OddMcap, "seed" | "kinds"> & Partial<Pick<OddMcap, "compression" | "isLegal">>,
): OddMcap {
  const { messages, damage } = readSlowly(bytes);
  const isDamaged = damage.some(({ isGrave }) => isGrave);
  return { compression: "zstd", isLegal: false, ...about, knownBy: "reader", isDamaged, bytes, messages };
}
