import { fromBase64 } from "../parts/from-base64.ts";

/**
 * Returns how busy a topic was in each of `columns` parts of the recording's time, from 0 to 1. A column for several parts shows the
 * busiest of them.
 */
export function readActivity(base64: string, columns: number): number[] {
  const bins = fromBase64(base64);
  return Array.from({ length: columns }, (_, index) => {
    const from = Math.floor((index * bins.length) / columns);
    const to = Math.max(from + 1, Math.floor(((index + 1) * bins.length) / columns));
    return Math.max(0, ...bins.subarray(from, to)) / 255;
  });
}
