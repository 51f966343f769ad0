import Table from "cli-table3";

/** Makes a table for the terminal, without colours if the output goes to a file or the user has turned colours off. */
export function makeTable(head: readonly string[]): Table.Table {
  const hasColours = process.stdout.isTTY && process.stdout.hasColors();
  const style = hasColours ? { head: ["bold"], border: ["grey"] } : { head: [], border: [] };
  return new Table({ head: [...head], style: { ...style, compact: true } });
}
