/** Returns the number that a query's text stands for, as `1.50` for 1.5; undefined if it stands for none. */
export function parseNumberText(text: string): number | undefined {
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) return undefined;
  const number = Number(text);
  return Number.isFinite(number) ? number : undefined;
}

const MAX_DIGITS = 15; // a 64-bit float holds them all
const MAX_DECIMALS = 6;
const MAX_WIDTH = 6;

/**
 * Returns the usual spellings of the number that a text stands for: up to six decimals with zeros at their end, a whole number padded to up
 * to six digits, with a plus, with an exponent. There are none for other texts, nor for serial numbers of more than 15 digits. Each is
 * compared as a text, because an index of texts then serves the comparison by value.
 */
export function spellingsOf(text: string): string[] {
  const number = parseNumberText(text);
  const digits = text.replace(/e.*$/i, "").replace(/[^0-9]/g, "");
  if (number === undefined || digits.length > MAX_DIGITS) return [];
  const [, sign = "", whole = "", decimals = ""] = /^(-?)(\d+)\.?(\d*)$/.exec(printNumber(number)) ?? [];
  const padded = decimals === "" ? padStarts(whole) : [whole, ...(whole === "0" ? [""] : [])];
  const unsigned = [
    ...padded.map((start) => (decimals === "" ? start : `${start}.${decimals}`)),
    ...padEnds(whole, decimals),
  ];
  const plain = unsigned.flatMap((one) => (sign === "" ? [one, `+${one}`] : [`${sign}${one}`]));
  return [...new Set([...plain, String(number), number.toExponential(), number.toExponential().replace("+", "")])];
}

function padStarts(whole: string): string[] {
  return Array.from({ length: Math.max(1, MAX_WIDTH - whole.length + 1) }, (_, zeros) => "0".repeat(zeros) + whole);
}

function padEnds(whole: string, decimals: string): string[] {
  const count = Math.max(0, MAX_DECIMALS - decimals.length);
  return Array.from({ length: count }, (_, zeros) => `${whole}.${decimals}${"0".repeat(zeros + 1)}`);
}

/** Prints a number as the database does: never with an exponent. */
export function printNumber(number: number): string {
  const [mantissa = "", exponent] = String(number).split("e");
  if (exponent === undefined) return mantissa;
  const [, sign, whole = "", fraction = ""] = /^(-?)(\d+)\.?(\d*)$/.exec(mantissa) ?? [];
  const point = whole.length + Number(exponent);
  const digits = `${whole}${fraction}`.padEnd(point, "0");
  return point > 0 ? `${sign}${digits}` : `${sign}0.${"0".repeat(-point)}${digits}`;
}
