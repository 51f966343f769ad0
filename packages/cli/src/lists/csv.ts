/** Writes rows as RFC 4180 has them, with line feeds as most programs on Linux write them. */
export function toCsv(rows: readonly (readonly string[])[]): string {
  return rows.map((row) => `${row.map(toField).join(",")}\n`).join("");
}

// Blanks at the edges and control characters are no reason for quotes in RFC 4180; readers that trim or split at them keep quoted ones.
const TO_QUOTE = /[",\p{Cc}\p{Zl}\p{Zp}]|^\s|\s$/u;

function toField(text: string): string {
  return TO_QUOTE.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Returns a field of a document as a text: whole values as they are, lists and objects as JSON, and nothing where there is none. */
export function fieldText(document: object, path: string): string {
  let value: unknown = document;
  for (const key of path.split(".")) value = (value as Record<string, unknown> | undefined | null)?.[key];
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
