import type { DatabaseSync } from "node:sqlite";

/** One card is taken out, and another one, the same one again or none is put in. */
export interface CardSwap {
  /** The id in the marker of the card that is taken out: all files that are here now are on it. */
  readonly out: string;
  readonly into: string | undefined;
  /** Wall time, nanoseconds. */
  readonly atNs: bigint;
}

/**
 * Returns the path under which the database keeps a file whose card is out. The file keeps its row, and needs no table of its own: all that
 * belongs to its version stays as it is, and its path is free. No path of a file in the root begins with a slash.
 */
export function awayPath(card: string, path: string): string {
  return `/${card}/${path}`;
}

/**
 * The files that are here go away with their card, and those on the other card come back as what they were. The caller holds
 * the transaction open, and the fact which card is in is part of it: a crash leaves both or neither. A few statements do it,
 * however many files there are.
 */
export function swapCardRows(database: DatabaseSync, { out, into, atNs }: CardSwap): void {
  database
    .prepare(
      `INSERT INTO away (version_id, card, path, state_before, since_ns)
       SELECT version_id, ?, path, CASE state WHEN 'uploading' THEN 'requested' ELSE state END, ? FROM files WHERE state <> 'away'`,
    )
    .run(out, atNs);
  database.prepare("UPDATE files SET path = '/' || ? || '/' || path, state = 'away' WHERE state <> 'away'").run(out);
  if (into === undefined) return;
  database
    .prepare(
      `UPDATE files SET path = away.path, state = away.state_before
       FROM away WHERE away.version_id = files.version_id AND away.card = ?`,
    )
    .run(into);
  database.prepare("DELETE FROM away WHERE card = ?").run(into);
  database.prepare("INSERT OR REPLACE INTO facts (name, value) VALUES ('rootMarkerId', ?)").run(into);
}
