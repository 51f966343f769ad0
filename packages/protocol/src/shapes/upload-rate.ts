/** Bytes per second within some minutes of some days of the week. */
export interface RateRule {
  /** Days of the week: 0 is Sunday, as for `Date.getDay`. */
  readonly days: ReadonlySet<number>;
  /** Minutes since midnight, from the first to before the last. A range that ends before it begins crosses midnight. */
  readonly fromMinute: number;
  readonly toMinute: number;
  /** The rate: 0 if nothing is sent, Infinity if there is no limit. */
  readonly bytesPerSecond: number;
}

const DAY_NAMES = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const DAY_MINUTES = 24 * 60;
const MINUTE_MS = 60_000;
const WEEK_MINUTES = 7 * DAY_MINUTES;
const MAX_RULES = 50;
/** The lowest rate. A slower transfer would count as a dead one. */
const LOWEST_BYTES_PER_SECOND = 1000;

const unitBytes: Readonly<Record<string, number>> = {
  ...{ b: 1, kb: 1e3, mb: 1e6, gb: 1e9, kib: 2 ** 10, mib: 2 ** 20, gib: 2 ** 30 },
  ...{ kbit: 125, mbit: 125_000, gbit: 125e6 },
};

/**
 * `2MB/s`, `16Mbit/s`, `off` (or `0`), `unlimited`, or a weekly timetable of these in the device's local time:
 * `Mon-Fri 08:00-18:00 1MB/s; Sat,Sun off; * 10MB/s`. The first rule that fits counts; where none does there is no limit.
 * Throws a RangeError with a sentence that names the place.
 */
export function parseUploadRate(text: string): RateRule[] {
  const rules = text
    .split(";")
    .map((part) => part.trim())
    .filter((part) => part !== "")
    .map(parseRule);
  if (rules.length === 0) throw new RangeError("an upload rate must not be empty; `unlimited` sets no limit");
  if (rules.length > MAX_RULES) throw new RangeError(`an upload rate has at most ${MAX_RULES} rules`);
  return rules;
}

function parseRule(text: string): RateRule {
  const words = text.split(/\s+/);
  const rate = words.pop()!;
  const hours = words.at(-1)?.includes(":") ? words.pop()! : "00:00-24:00";
  const days = words.pop() ?? "*";
  if (words.length > 0) throw new RangeError(`"${text}" is not of the form [days] [hours] rate`);
  return { days: parseDays(days), ...parseHours(hours), bytesPerSecond: parseRate(rate) };
}

function parseDays(text: string): ReadonlySet<number> {
  if (text === "*") return new Set(DAY_NAMES.keys());
  return new Set(text.split(",").flatMap(parseDayRange));
}

function parseDayRange(text: string): number[] {
  const [first, last = first, ...rest] = text.split("-").map((name) => DAY_NAMES.indexOf(name.toLowerCase()));
  if (first === undefined || last === undefined || first < 0 || last < 0 || rest.length > 0)
    throw new RangeError(`"${text}" names no days; expected * or names such as Mon-Fri or Sat,Sun`);
  return Array.from({ length: ((last - first + 7) % 7) + 1 }, (_, index) => (first + index) % 7);
}

function parseHours(text: string): Pick<RateRule, "fromMinute" | "toMinute"> {
  const match = /^([01]?\d|2[0-3]):([0-5]\d)-([01]?\d|2[0-4]):([0-5]\d)$/.exec(text);
  const [fromHour, fromMinutes, toHour, toMinutes] = (match ?? []).slice(1).map(Number);
  const [fromMinute, toMinute] = [fromHour! * 60 + fromMinutes!, toHour! * 60 + toMinutes!];
  if (!match || fromMinute === toMinute || toMinute > DAY_MINUTES)
    throw new RangeError(`"${text}" is no range of hours such as 08:00-18:00 or 22:00-06:00`);
  return { fromMinute, toMinute };
}

function parseRate(text: string): number {
  if (text.toLowerCase() === "unlimited") return Number.POSITIVE_INFINITY;
  if (text === "0" || text.toLowerCase() === "off") return 0;
  const match = /^(\d+(?:\.\d+)?)([kMG]?(?:i?B|bit))\/s$/i.exec(text);
  const bytesPerSecond = Math.round(Number(match?.[1]) * (unitBytes[match?.[2]?.toLowerCase() ?? ""] ?? Number.NaN));
  if (bytesPerSecond >= LOWEST_BYTES_PER_SECOND && Number.isSafeInteger(bytesPerSecond)) return bytesPerSecond;
  throw new RangeError(`"${text}" is no rate such as 500kB/s (at least 1kB/s), 2MB/s, 16Mbit/s, off or unlimited`);
}

/** Answers the rate at an instant (milliseconds since the epoch), by the local time of this process, in bytes per second. */
export function uploadRateAt(rules: readonly RateRule[], timeMs: number): number {
  const time = new Date(timeMs);
  const minute = time.getHours() * 60 + time.getMinutes();
  return rules.find((rule) => holds(rule, time.getDay(), minute))?.bytesPerSecond ?? Number.POSITIVE_INFINITY;
}

/** A range over midnight belongs to the day on which it begins. */
function holds({ days, fromMinute, toMinute }: RateRule, day: number, minute: number): boolean {
  if (fromMinute < toMinute) return days.has(day) && minute >= fromMinute && minute < toMinute;
  return (days.has(day) && minute >= fromMinute) || (days.has((day + 6) % 7) && minute < toMinute);
}

/** Answers the next instant at which another rate holds, or undefined if none does for a week. It is also right when the clocks change. */
export function nextUploadRateChange(rules: readonly RateRule[], timeMs: number): number | undefined {
  const rate = uploadRateAt(rules, timeMs);
  const isConstant = rules.every((rule) => rule.bytesPerSecond === rate);
  if (isConstant && (rate === Number.POSITIVE_INFINITY || rules.some(isAlways))) return undefined;
  const firstMs = Math.floor(timeMs / MINUTE_MS + 1) * MINUTE_MS;
  for (let minute = 0; minute < WEEK_MINUTES; minute++) {
    const atMs = firstMs + minute * MINUTE_MS;
    if (uploadRateAt(rules, atMs) !== rate) return atMs;
  }
  return undefined;
}

function isAlways({ days, fromMinute, toMinute }: RateRule): boolean {
  return days.size === DAY_NAMES.length && fromMinute === 0 && toMinute === DAY_MINUTES;
}
