/** Versions are three numbers; there are no others, so that two can always be compared. */
export function isVersion(text: unknown): text is string {
  return typeof text === "string" && /^\d{1,6}\.\d{1,6}\.\d{1,6}$/.test(text);
}

/** Negative where `a` is older than `b`, 0 where both are the same. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((text) => text.split(".").map(Number)) as [number[], number[]];
  const at = left.findIndex((part, index) => part !== right[index]);
  return at === -1 ? 0 : left[at]! - right[at]!;
}
