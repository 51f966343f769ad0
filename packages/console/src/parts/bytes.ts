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

/** Formats a count with what is counted: `1 episode`, `1,020 episodes`. A plural without an s is given. */
export function formatMany(count: number, noun: string, plural = `${noun}s`): string {
  return `${formatCount(count)} ${count === 1 ? noun : plural}`;
}
