/**
 * Rows whose fields stand in arrays of numbers. There may be a million rows: an object for each would take several times as much memory,
 * and make the heap grow by more.
 */
export type Columns = Readonly<Record<string, Column>>;

type Column = Uint8Array | Uint16Array | Uint32Array | Float64Array | BigInt64Array | BigUint64Array;

/** The first rows of `to` become those of `from`. One function made both. */
export function copyColumns<C extends Columns>(from: C, to: C): C {
  for (const [name, column] of Object.entries(from)) to[name]!.set(column as never);
  return to;
}

/** The same numbers with room for `leastRoom`, and for twice as many as before. */
export function growColumn<C extends Column>(column: C, leastRoom = 1): C {
  const Numbers = column.constructor as new (room: number) => C;
  const grown = new Numbers(Math.max(2 * column.length, leastRoom));
  grown.set(column as never);
  return grown;
}

/** Each row of `to` becomes the one of `from` that `rows` names for it. */
export function pickRows<C extends Columns>(from: C, to: C, rows: Uint32Array): C {
  for (const [name, column] of Object.entries(from)) {
    const target = to[name]!;
    for (let at = 0; at < rows.length; at += 1) target[at] = column[rows[at]!] as never;
  }
  return to;
}

/** The place of a text in a list that rows share. Only the last text is compared, because a file may make up a million of them. */
export function numberOf(texts: string[], text: string): number {
  if (texts.at(-1) !== text) texts.push(text);
  return texts.length - 1;
}
