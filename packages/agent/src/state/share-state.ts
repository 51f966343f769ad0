import { chmodSync, chownSync, existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { findGroupId } from "../system/system-groups.ts";

/** The files that `status`, `ls` and `explain` read. All others are only for the agent: tokens, the lock, the reserve. */
const sharedFiles = ["agent.db", "agent.db-wal", "agent.db-shm", "agent.pid", "owner.json"];

/**
 * Lets the members of a group read the state, where the group exists and this user may change the files' group; otherwise
 * everything stays as it is. Files that SQLite makes later get the directory's group, and the mode of the database.
 */
export function shareState(stateDir: string, group: string): void {
  const gid = findGroupId(group);
  if (gid === undefined || !tryGiving(stateDir, { gid, mode: 0o750 })) return;
  tryGiving(stateDir, { gid, mode: 0o2750 }); // A hardened service may not set this bit, but the group is its own.
  for (const name of sharedFiles) {
    const path = join(stateDir, name);
    if (existsSync(path)) tryGiving(path, { gid, mode: 0o640 });
  }
}

/** Lets the group use a socket in a shared directory. To connect, a user needs write access. */
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
