import type { Prisma } from "../../db/generated/client.ts";

interface Window {
  readonly startNs: bigint | undefined;
  readonly endNs: bigint | undefined;
}

/**
 * Selects, among the recordings whose time touches the window, those that have messages there; both ends are inclusive. An open window
 * always holds the first or the last message, and only a recording that begins before the window and ends after it may lie around it.
 */
export function filterBySpans({ startNs, endNs }: Window): Prisma.RecordingWhereInput[] {
  if (startNs === undefined || endNs === undefined) return [];
  const spans = { some: { startNs: { lte: endNs }, endNs: { gte: startNs } } };
  return [{ OR: [{ startNs: { gte: startNs } }, { endNs: { lte: endNs } }, { spans: { none: {} } }, { spans }] }];
}
