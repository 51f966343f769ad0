import { displayWidth, padToWidth } from "./display-width.ts";

/** Lays out rows in columns that are as wide as their widest text. */
export function layOut(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, column) =>
    rows.reduce((width, row) => Math.max(width, displayWidth(row[column]!)), 0),
  );
  return rows
    .map(
      (row) =>
        `${row
          .map((text, column) => padToWidth(text, widths[column]!))
          .join("  ")
          .trimEnd()}\n`,
    )
    .join("");
}
