import type { OddMcap } from "./odd-mcap.ts";
import { DEFINED_TWICE, NO_TYPE, readSlowly } from "./slow-mcap-reader.ts";

/** A file of which it is not known what was written: the slow reader says what stands in it. */
export function readOddFile(
  bytes: Uint8Array,
  about: Pick<OddMcap, "seed" | "kinds"> & Partial<Pick<OddMcap, "compression" | "isLegal">>,
): OddMcap {
  const { messages, damage } = readSlowly(bytes);
  const isDamaged = damage.some(({ isGrave }) => isGrave);
  const isUnclear = damage.some(({ text }) => text === DEFINED_TWICE || text === NO_TYPE);
  const known = { knownBy: "reader", isDamaged, isUnclear, bytes, messages } as const;
  return { compression: "zstd", isLegal: false, ...about, ...known };
}
