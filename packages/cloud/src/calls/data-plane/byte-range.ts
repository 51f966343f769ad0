import type { ByteRange } from "../../store/blobs/blob-store.ts";

const RANGE = /^bytes=(?<first>\d{0,15})-(?<last>\d{0,15})$/i;

/**
 * Reads a `Range` header: returns one range, `"unsatisfiable"` for a range that lies outside of the object, or undefined if the whole
 * object is to be sent: without a header, with several ranges (which a server may ignore), and with a malformed one. spec: RFC 9110 §14
 */
export function parseRange(header: string | undefined, sizeBytes: number): ByteRange | "unsatisfiable" | undefined {
  const found = RANGE.exec(header?.replaceAll(" ", "") ?? "")?.groups as { first: string; last: string } | undefined;
  if (!found || (found.first === "" && found.last === "")) return undefined;
  if (found.first === "") return toRange(Math.max(0, sizeBytes - Number(found.last)), sizeBytes - 1);
  const start = Number(found.first);
  const last = found.last === "" ? Number.POSITIVE_INFINITY : Number(found.last);
  if (last < start) return undefined;
  return toRange(start, Math.min(last, sizeBytes - 1));
}

function toRange(start: number, endInclusive: number): ByteRange | "unsatisfiable" {
  return start <= endInclusive ? { start, endInclusive } : "unsatisfiable";
}
