import Table from "cli-table3";

/** A table for the terminal; where the output goes to a file, or nobody wants colours, it has none. */
export function makeTable(head: readonly string[]): Table.Table {
  const hasColours = process.stdout.isTTY && process.stdout.hasColors();
  const style = hasColours ? { head: ["bold"], border: ["grey"] } : { head: [], border: [] };
  return new Table({ head: [...head], style: { ...style, compact: true } });
}
