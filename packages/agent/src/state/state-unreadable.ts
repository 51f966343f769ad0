import { statSync } from "node:fs";
import { userInfo } from "node:os";
import { findGroupId } from "../system/system-groups.ts";

/** The state exists, or may exist, and this user may not read it. The message says what to do. */
export class StateUnreadableError extends Error {
  constructor(stateDir: string, group: string) {
    super(describeUnreadable(stateDir, group));
    this.name = "StateUnreadableError";
  }
}

/** Reads state; where this user may not, the error says what to do. */
export function readingState<T>({ stateDir, stateGroup }: { stateDir: string; stateGroup: string }, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (isForbidden(error)) throw new StateUnreadableError(stateDir, stateGroup);
    throw error;
  }
}

export function isForbidden(error: unknown): boolean {
  return ["EACCES", "EPERM"].includes((error as NodeJS.ErrnoException | undefined)?.code ?? "");
}

function describeUnreadable(stateDir: string, group: string): string {
  const join = `\`usermod -aG ${group} ${userName()}\``;
  const todo = isShared(stateDir, group)
    ? `become a member of the group ${group}: as root ${join}, then log in again`
    : `let the members of the group ${group} read it: as root \`groupadd --system --force ${group}\` and ${join}; start the agent again, then log in again`;
  return `you may not read the agent's state in ${stateDir}. Do this as root, or ${todo}`;
}

function isShared(stateDir: string, group: string): boolean {
  const gid = findGroupId(group);
  try {
    return gid !== undefined && statSync(stateDir).gid === gid;
  } catch (error) {
    if (isForbidden(error)) return false; // A directory above is closed already.
    throw error;
  }
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return "USER"; // The user has no name.
  }
}
