// The listings of both stores are kept in temporary tables of one connection, where Postgres compares them: memory does not grow with the
// stores (see integrity/listed-objects.ts).

import { Prisma } from "../../db/generated/client.ts";
import { groupItems } from "../../keeping/integrity/group-items.ts";
import { keepListing, keepRows, openSession, type Session } from "../../keeping/integrity/listed-objects.ts";
import { createPromised } from "../../keeping/integrity/promised-objects.ts";
import type { ListedObject } from "../../store/blobs/blob-store.ts";
import type { ListedNote } from "../../store/blobs/notes.ts";
import type { CopyDeps } from "./copy-deps.ts";

const ROWS_PER_STATEMENT = 500;

/** A connection on which `listed` has the objects of the source, `held` those of the target, and `promised` what rows name. */
export async function listStores({ db, source, target }: CopyDeps): Promise<Session> {
  const session = await openSession(db.pool);
  try {
    await createPromised(session);
    await session.query(Prisma.sql`CREATE TEMPORARY TABLE held
      (key text NOT NULL, "isWhole" boolean NOT NULL, "sizeBytes" bigint NOT NULL)`);
    await keepHeld(session, target.list(""));
    await keepListing(session, source.list(""));
    return session;
  } catch (error) {
    await session[Symbol.asyncDispose]();
    throw error;
  }
}

async function keepHeld(session: Session, objects: AsyncIterable<ListedObject>): Promise<void> {
  for await (const group of groupItems(objects, ROWS_PER_STATEMENT)) await keepRows(session, "held", group);
  await session.query(Prisma.sql`CREATE INDEX ON held (key)`);
  await session.query(Prisma.sql`ANALYZE held`);
}

/** Keeps the keys of notes in a new table. */
export async function keepNotes(session: Session, table: string, notes: AsyncIterable<ListedNote>): Promise<void> {
  const name = Prisma.raw(table);
  await session.query(Prisma.sql`DROP TABLE IF EXISTS ${name}`);
  await session.query(Prisma.sql`CREATE TEMPORARY TABLE ${name} (key text NOT NULL)`);
  for await (const group of groupItems(notes, ROWS_PER_STATEMENT)) await keepRows(session, table, group);
  await session.query(Prisma.sql`CREATE INDEX ON ${name} (key)`);
  await session.query(Prisma.sql`ANALYZE ${name}`);
}

/** How many uploads that the source has begun may still go on there. */
export async function countOpenUploads(session: Session): Promise<number> {
  const [row] = await session.query<{ count: number }>(Prisma.sql`
    SELECT count(DISTINCT u.id)::int AS count FROM listed l JOIN "Upload" u ON u."blobKey" = l.key
    WHERE NOT l."isWhole" AND u.state = 'open'`);
  return row!.count;
}
