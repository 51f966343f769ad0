import type { Database } from "../db/client.ts";
import { Prisma } from "../db/generated/client.ts";
import { newPoolReader } from "../db/read-sql.ts";
import type { NoteStore } from "../store/blobs/notes.ts";
import { hasMarks } from "./marks.ts";

type Pool = Pick<Database, "pool">;

/** Returns why nothing is destroyed at the moment; undefined if database and store belong together. */
export async function readRecoveryReason(db: Pool): Promise<string | undefined> {
  const [row] = await newPoolReader(db)<{ reason: string | null }>(
    Prisma.sql`SELECT coalesce(conflict, "recoveringReason") AS reason FROM "Deployment" WHERE id = 1`,
  );
  return row?.reason ?? undefined;
}

/** Returns a sentence if the store has lost what it confirmed, like one that is not mounted; undefined if it has not. */
export async function findWrongStore({
  db,
  blobs,
}: {
  db: Pool;
  blobs: Pick<NoteStore, "listNotes">;
}): Promise<string | undefined> {
  const [row] = await newPoolReader(db)<{ confirmed: string | null }>(
    Prisma.sql`SELECT confirmed FROM "DeploymentMark" WHERE id = 1`,
  );
  if (row?.confirmed == null || (await hasMarks(blobs))) return undefined;
  return "the object store has no mark, though it confirmed one: it is a wrong or unmounted store";
}
