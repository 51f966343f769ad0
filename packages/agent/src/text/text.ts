import { displayWidth, takeWidth } from "./display-width.ts";

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

/** Cuts in the middle, where paths differ least. */
export function fit(text: string, width: number): string {
  const shown = printable(text);
  if (displayWidth(shown) <= width) return shown;
  const characters = [...shown];
  const head = takeWidth(characters, Math.ceil((width - 1) / 2)).join("");
  const tail = takeWidth(characters.reverse(), width - 1 - displayWidth(head)).reverse();
  return `${head}…${tail.join("")}`;
}

/** In lines of a width, between words; the last of at most so many is cut at its end. */
export function wrap(text: string, { width, lines }: { width: number; lines: number }): string[] {
  const wrapped: string[] = [""];
  for (const word of printable(text).split(/\s+/)) {
    const last = wrapped.at(-1)!;
    if (last === "") wrapped[wrapped.length - 1] = word;
    else if (displayWidth(last) + 1 + displayWidth(word) <= width) wrapped[wrapped.length - 1] = `${last} ${word}`;
    else wrapped.push(word);
  }
  const shown = wrapped.slice(0, lines);
  const isCut = wrapped.length > lines;
  return shown.map((line, index) => cut(isCut && index === lines - 1 ? `${line} …` : line, width));
}

/** Cuts at the end. */
function cut(text: string, width: number): string {
  return displayWidth(text) <= width ? text : `${takeWidth(text, width - 1).join("")}…`;
}

export function formatBytes(bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  const value = bytes / 1000 ** power;
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[power]}`;
}

export function formatDuration(seconds: number): string {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 90 * 60) return `${Math.round(seconds / 60)} min`;
  return seconds < 36 * 3600 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} d`;
}
