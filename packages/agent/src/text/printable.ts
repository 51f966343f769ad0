const OBEYED = /[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/** What a terminal would obey instead of show is shown as U+FFFD: names of files, and what the cloud says, come from anywhere. */
export function printable(text: string): string {
  return text.replace(OBEYED, "\uFFFD");
}

/** The same for every text in a document, its keys as well: done before it is laid out, when our own lines and colours come in. */
export function printableAll<T>(document: T): T {
  return printableValue(document) as T;
}

function printableValue(value: unknown): unknown {
  if (typeof value === "string") return printable(value);
  if (Array.isArray(value)) return value.map(printableValue);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [printable(key), printableValue(inner)]));
}

/** Text of several lines, each of them printable. */
export function printableLines(text: string): string {
  return text.split("\n").map(printable).join("\n");
}

/** JSON that means the same and that a terminal only shows: JSON itself escapes no more than the oldest control characters. */
export function harmlessJson(json: string): string {
  const toEscape = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return json.replace(OBEYED, (found) => (/[\n\r\t]/.test(found) ? found : found.split("").map(toEscape).join("")));
}
