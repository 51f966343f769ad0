const OBEYED = /[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/** Replaces by U+FFFD what a terminal would obey instead of showing: names of files and texts of the cloud come from anywhere. */
export function printable(text: string): string {
  return text.replace(OBEYED, "\uFFFD");
}

/** Does the same for every text and key of a document. It must be done before the layout, which adds our own lines and colours. */
export function printableAll<T>(document: T): T {
  return printableValue(document) as T;
}

function printableValue(value: unknown): unknown {
  if (typeof value === "string") return printable(value);
  if (Array.isArray(value)) return value.map(printableValue);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [printable(key), printableValue(inner)]));
}

/** Makes each line of a text printable, and keeps the line breaks. */
export function printableLines(text: string): string {
  return text.split("\n").map(printable).join("\n");
}

/** Writes JSON so that a terminal only shows it: JSON itself escapes no more than the oldest control characters. */
export function harmlessJson(json: string): string {
  const toEscape = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return json.replace(OBEYED, (found) => (/[\n\r\t]/.test(found) ? found : found.split("").map(toEscape).join("")));
}
