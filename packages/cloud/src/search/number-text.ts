/** Returns the number that a query's text stands for, as `1.50` for 1.5; undefined if it stands for none. */
export function parseNumberText(text: string): number | undefined {
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) return undefined;
  const number = Number(text);
  return Number.isFinite(number) ? number : undefined;
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
