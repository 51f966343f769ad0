import type { DatabaseSync } from "node:sqlite";

/** A card goes out, another comes in, or the same again, or none. */
export interface CardSwap {
  /** Ids of their markers. Whatever is here is on this one. */
  readonly out: string;
  readonly into: string | undefined;
  /** Wall time, nanoseconds. */
  readonly atNs: bigint;
}

/** Under which path the database keeps a file whose card is out. None of a file in the root begins with a slash. */
export function awayPath(card: string, path: string): string {
  return `/${card}/${path}`;
}

/**
 * Within an open transaction: whatever is here goes away with its card, what is on the other comes back as what it was. With it,
 * which card is in: a crash leaves both or neither. A few statements for any number of files.
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
