import type { Deps } from "../../../calls/context/context.ts";
import { openFileFolder } from "../../../store/blobs/file-folder.ts";
import { filesOf } from "../../../store/blobs/file-layout.ts";
import { OBJECTS } from "../backup-record.ts";
import { makeBackup } from "../make-backup.ts";

/** Makes a backup of the objects into an empty folder, as if the database were the operator's, and returns the keys that it holds. */
export async function heldObjects(
  deps: Pick<Deps, "db" | "blobs">,
  { objectsDir, place }: { objectsDir: string; place: string },
): Promise<string[]> {
  const folder = await openFileFolder(place);
  const isWhole = await makeBackup(deps, {
    ...{ folder, databaseUrl: undefined, proofDir: place, adminKey: undefined, keep: { last: 1 }, nowMs: Date.now },
    fileOf: (key) => filesOf(objectsDir, key).object,
    signal: new AbortController().signal,
    write: () => {},
    warn: () => {},
  });
  if (!isWhole) throw new Error("the backup lacks something");
  return (await Array.fromAsync(folder.list(OBJECTS), ({ name }) => name.slice(OBJECTS.length))).sort();
}
