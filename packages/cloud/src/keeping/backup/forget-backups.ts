import { Prisma } from "../../db/generated/client.ts";
import type { Folder } from "../../store/blobs/folder.ts";
import type { Session } from "../integrity/listed-objects.ts";
import { pagesOf } from "../integrity/suspects.ts";
import { listBackups, OBJECTS, recordOf } from "./backup-record.ts";
import { chooseBackups, type Retention } from "./choose-backups.ts";
import { keepLines, listNames } from "./copied-objects.ts";
import { runInTurns } from "./run-in-turns.ts";

interface Forgetting {
  readonly session: Session;
  readonly folder: Folder;
  /** The backup that was just made. */
  readonly backup: string;
  readonly keep: Retention;
}

/** Removes older backups and broken ones, each with its last file first, then the objects that no other backup has. */
export async function forgetBackups({ session, folder, backup, keep }: Forgetting): Promise<void> {
  const { complete, incomplete } = await listBackups(folder);
  const kept = chooseBackups(complete, keep);
  const forgotten = [...complete, ...incomplete].filter((name) => !kept.includes(name));
  for (const name of forgotten) {
    await folder.remove(recordOf(name));
    for (const file of await listNames(folder, `${name}/`)) await folder.remove(file);
  }
  await keepLines(session, folder, backup);
  const unheld = Prisma.sql`SELECT key FROM stored s
    WHERE NOT EXISTS (SELECT FROM known k WHERE k.key = s.key AND k.backup = ANY (${kept}))`;
  for await (const page of pagesOf<{ key: string }>(session, unheld))
    await runInTurns(page, ({ key }) => folder.remove(OBJECTS + key));
}
