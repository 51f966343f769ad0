import { chmodSync, chownSync, existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { findGroupId } from "../system/system-groups.ts";

/** What `status`, `ls` and `explain` read. All else is the agent's own: tokens, the lock, the reserve. */
const sharedFiles = ["agent.db", "agent.db-wal", "agent.db-shm", "agent.pid", "owner.json"];

/**
 * Lets the members of a group read the state, where there is that group and this user may give them something; else everything
 * stays as it is. SQLite makes its files again and again: they are then of the directory's group, and as readable as the database.
 */
export function shareState(stateDir: string, group: string): void {
  const gid = findGroupId(group);
  if (gid === undefined || !tryGiving(stateDir, { gid, mode: 0o750 })) return;
  tryGiving(stateDir, { gid, mode: 0o2750 }); // A hardened service may not set that bit, but has the group as its own.
  for (const name of sharedFiles) {
    const path = join(stateDir, name);
    if (existsSync(path)) tryGiving(path, { gid, mode: 0o640 });
  }
}

/** The same for a socket in a directory that is shared: who connects has to write. */
export function shareSocket(path: string, stateDir: string): void {
  const { gid, mode } = statSync(stateDir);
  if ((mode & 0o050) === 0o050) tryGiving(path, { gid, mode: 0o660 });
}

function tryGiving(path: string, { gid, mode }: { gid: number; mode: number }): boolean {
  const { uid, gid: was } = statSync(path);
  try {
    if (was !== gid) chownSync(path, uid, gid);
    chmodSync(path, mode);
    return true;
  } catch (error) {
    if (!["EPERM", "EACCES", "EROFS"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
    return false;
  }
}
