import { z } from "zod";

const FIRST_YEAR = 1677; // that 64 bits of nanoseconds reach
const NS_PER_SECOND = 1_000_000_000n;
const PATTERN = /^(\d{4})-(\d{2})-(\d{2})(?:[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?([Zz]|[+-]\d{2}:\d{2}))?$/;

/**
 * RFC 3339 text on the wire, nanoseconds since the epoch as `bigint` in code.
 * In: `Z` or a numeric offset, up to 9 fractional digits; a bare date is midnight UTC. Out: UTC with the digits needed.
 * Range: what fits a signed 64-bit number of nanoseconds (1677-09-21 to 2262-04-11).
 */
export const Timestamp = z.codec(
  z.string().meta({ format: "date-time", example: "2026-01-02T03:04:05.123456789Z" }),
  z.bigint(),
  {
    decode: (text, payload) => {
      const timeNs = parseTimestamp(text);
      if (timeNs !== undefined) return timeNs;
      payload.issues.push({
        code: "custom",
        input: text,
        message: "expected an RFC 3339 date-time such as 2026-01-02T03:04:05Z",
      });
      return z.NEVER;
    },
    encode: formatTimestamp,
  },
);

/** Nanoseconds since the epoch, or undefined where the text is no valid time or does not fit 64 bits. */
export function parseTimestamp(text: string): bigint | undefined {
  const match = PATTERN.exec(text);
  if (!match) return undefined;
  const [, year, month, day, hour = 0, minute = 0, second = 0, fraction = "", offset] = match;
  const ms = utcMs({ year: +year!, month: +month!, day: +day!, hour: +hour, minute: +minute, second: +second });
  const offsetMinutes = parseOffset(offset);
  if (ms === undefined || offsetMinutes === undefined) return undefined;
  const timeNs = BigInt(ms - offsetMinutes * 60_000) * 1_000_000n + BigInt(+fraction.padEnd(9, "0"));
  return BigInt.asIntN(64, timeNs) === timeNs ? timeNs : undefined;
}

/** `2026-01-02T03:04:05Z` with as many fractional digits as needed, up to nine. */
export function formatTimestamp(timeNs: bigint): string {
  const fractionNs = ((timeNs % NS_PER_SECOND) + NS_PER_SECOND) % NS_PER_SECOND;
  const seconds = (timeNs - fractionNs) / NS_PER_SECOND;
  const text = new Date(Number(seconds) * 1000).toISOString().slice(0, 19);
  if (fractionNs === 0n) return `${text}Z`;
  return `${text}.${fractionNs.toString().padStart(9, "0").replace(/0+$/, "")}Z`;
}

interface DateParts {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
}

function utcMs({ year, month, day, hour, minute, second }: DateParts): number | undefined {
  if (hour > 23 || minute > 59 || second > 60) return undefined; // 60: a leap second, which counts as the next one
  if (year < FIRST_YEAR || month < 1 || month > 12 || day < 1 || day > 31) return undefined;
  if (day > 28 && day > new Date(Date.UTC(year, month, 0)).getUTCDate()) return undefined;
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

function parseOffset(text: string | undefined): number | undefined {
  if (text === undefined || text === "Z" || text === "z") return 0;
  const hours = Number(text.slice(1, 3));
  const minutes = Number(text.slice(4, 6));
  if (hours > 23 || minutes > 59) return undefined;
  return (text.startsWith("-") ? -1 : 1) * (hours * 60 + minutes);
}
