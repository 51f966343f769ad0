import { z } from "zod";

const NS_PER_SECOND = 1_000_000_000n;
/** The first and the last time that a signed 64-bit number of nanoseconds reaches. */
export const FIRST_TIME_NS = -(2n ** 63n);
export const LAST_TIME_NS = 2n ** 63n - 1n;
const PATTERN = /^(\d{4})-(\d{2})-(\d{2})(?:[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?([Zz]|[+-]\d{2}:\d{2}))?$/;
/** Lists have thousands of times, and `toISOString` takes three times as long as looking up the two digits of each number. */
const twoDigits = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, "0"));

const NO_TIME = "must be an RFC 3339 date-time such as 2026-01-02T03:04:05Z";
const wire = z
  .string({ error: ({ input }) => (input === undefined ? undefined : NO_TIME) })
  .meta({ format: "date-time", example: "2026-01-02T03:04:05.123456789Z" });

/** In the query of an address a plus stands for a space, so that an offset to the east has to be written `%2B02:00` there. */
const LOST_PLUS =
  "has a space where the + of its offset was: in an address write %2B for +, or give the time in UTC with Z";

function explainTime(text: string): string {
  return /T\d\d:\d\d:\d\d[.\d]* \d\d:\d\d$/i.test(text) ? LOST_PLUS : NO_TIME;
}

/**
 * RFC 3339 text on the wire, nanoseconds since the epoch as `bigint` in code.
 * In: `Z` or a numeric offset, up to 9 fractional digits; a bare date is midnight UTC. Out: UTC with the digits needed.
 * Range: what fits a signed 64-bit number of nanoseconds (1677-09-21 to 2262-04-11).
 */
export const Timestamp = z.codec(wire, z.bigint(), {
  decode: (text, payload) => {
    const timeNs = readTimestamp(text);
    if (timeNs !== undefined && isInRange(timeNs)) return timeNs;
    payload.issues.push({
      code: "custom",
      input: text,
      message: timeNs === undefined ? explainTime(text) : OUT_OF_RANGE,
    });
    return z.NEVER;
  },
  encode: formatTimestamp,
});

/** A bound in a query. A time beyond the range means the range's end, because nothing lies behind it. */
export const TimeBound = z.codec(wire, z.bigint(), {
  decode: (text, payload) => {
    const timeNs = readTimestamp(text);
    if (timeNs !== undefined) return clamp(timeNs);
    payload.issues.push({ code: "custom", input: text, message: explainTime(text) });
    return z.NEVER;
  },
  encode: formatTimestamp,
});

const OUT_OF_RANGE = `must be from ${formatTimestamp(FIRST_TIME_NS)} to ${formatTimestamp(LAST_TIME_NS)}`;

/** Answers nanoseconds since the epoch, or undefined if the text is no valid time or does not fit 64 bits. */
export function parseTimestamp(text: string): bigint | undefined {
  const timeNs = readTimestamp(text);
  return timeNs !== undefined && isInRange(timeNs) ? timeNs : undefined;
}

function isInRange(timeNs: bigint): boolean {
  return timeNs >= FIRST_TIME_NS && timeNs <= LAST_TIME_NS;
}

function clamp(timeNs: bigint): bigint {
  if (timeNs < FIRST_TIME_NS) return FIRST_TIME_NS;
  return timeNs > LAST_TIME_NS ? LAST_TIME_NS : timeNs;
}

/** Reads a time of the years 0 to 9999. Answers undefined if the text is no valid time. */
function readTimestamp(text: string): bigint | undefined {
  const match = PATTERN.exec(text);
  if (!match) return undefined;
  const [, year, month, day, hour = 0, minute = 0, second = 0, fraction = "", offset] = match;
  const ms = utcMs({ year: +year!, month: +month!, day: +day!, hour: +hour, minute: +minute, second: +second });
  const offsetMinutes = parseOffset(offset);
  if (ms === undefined || offsetMinutes === undefined) return undefined;
  const unixMs = ms - offsetMinutes * 60_000;
  if (+second === LEAP_SECOND && !isAfterLeapSecond(new Date(unixMs))) return undefined;
  return BigInt(unixMs) * 1_000_000n + BigInt(+fraction.padEnd(9, "0"));
}

const LEAP_SECOND = 60;
const FIRST_LEAP_YEAR = 1972;

/**
 * Whether a time directly follows a possible leap second, which counts as the second after it. There were some at the end of June and of
 * December, UTC, and nowhere else.
 */
function isAfterLeapSecond(time: Date): boolean {
  const isHalfYear = time.getUTCMonth() % 6 === 0 && time.getUTCDate() === 1;
  const isMidnight = time.getUTCHours() === 0 && time.getUTCMinutes() === 0;
  return isHalfYear && isMidnight && time.getTime() > Date.UTC(FIRST_LEAP_YEAR, 0, 1);
}

/** `2026-01-02T03:04:05Z` with as many fractional digits as needed, up to nine. */
export function formatTimestamp(timeNs: bigint): string {
  const restNs = Number(timeNs % NS_PER_SECOND);
  const isBefore = restNs < 0; // before 1970 the whole second is the one below
  const time = new Date((Number(timeNs / NS_PER_SECOND) - (isBefore ? 1 : 0)) * 1000);
  const day = `${time.getUTCFullYear()}-${twoDigits[time.getUTCMonth() + 1]}-${twoDigits[time.getUTCDate()]}`;
  const clock = `${twoDigits[time.getUTCHours()]}:${twoDigits[time.getUTCMinutes()]}:${twoDigits[time.getUTCSeconds()]}`;
  return `${day}T${clock}${fractionText(isBefore ? restNs + 1e9 : restNs)}Z`;
}

function fractionText(fractionNs: number): string {
  if (fractionNs === 0) return "";
  let [digits, left] = [9, fractionNs];
  for (; left % 10 === 0; left /= 10) digits -= 1;
  return `.${String(left).padStart(digits, "0")}`;
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
  if (hour > 23 || minute > 59 || second > LEAP_SECOND || month < 1 || month > 12 || day < 1) return undefined;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day); // Date.UTC takes the years 0 to 99 for 1900 to 1999
  if (date.getUTCDate() !== day) return undefined;
  return date.setUTCHours(hour, minute, second);
}

function parseOffset(text: string | undefined): number | undefined {
  if (text === undefined || text === "Z" || text === "z") return 0;
  const hours = Number(text.slice(1, 3));
  const minutes = Number(text.slice(4, 6));
  if (hours > 23 || minutes > 59) return undefined;
  return (text.startsWith("-") ? -1 : 1) * (hours * 60 + minutes);
}
