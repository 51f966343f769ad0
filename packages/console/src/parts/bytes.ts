const UNITS = ["kB", "MB", "GB", "TB", "PB"];

/** Formats bytes as `412 MB`: decimal units, three digits. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  let [value, unit] = [bytes / 1000, 0];
  for (; value >= 999.5 && unit < UNITS.length - 1; unit++) value /= 1000;
  const digits = value < 9.95 ? 1 : 0;
  return `${value.toFixed(digits)} ${UNITS[unit]}`;
}

/** Formats a count as `1,020,000`. */
export function formatCount(count: number): string {
  return count.toLocaleString("en-US");
}
