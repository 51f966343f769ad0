/** Formats seconds after a beginning as a clock: `4:27.2`, `1:02:03`. */
export function formatOffset(seconds: number, decimals = 0): string {
  const scale = 10 ** decimals;
  const all = Math.round(Math.abs(seconds) * scale);
  const whole = Math.floor(all / scale);
  const parts = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const [first, ...others] = parts[0] === 0 ? parts.slice(1) : parts;
  const clock = [first, ...others.map((part) => String(part).padStart(2, "0"))].join(":");
  const rest = decimals === 0 ? "" : `.${String(all % scale).padStart(decimals, "0")}`;
  return `${seconds < 0 && all > 0 ? "−" : ""}${clock}${rest}`;
}
