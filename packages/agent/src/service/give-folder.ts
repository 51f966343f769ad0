import { existsSync, statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { findUser, mayUser, runProgram, type UserIds } from "./run-program.ts";

/** A command for root, and why the agent did not run it. */
export interface LeftStep {
  readonly command: readonly string[] | undefined;
  readonly why: string;
}

/** The numbers of file systems that know no owners: FAT, exFAT, and NTFS in two drivers. */
const ownerless = new Set([0x4d44, 0x2011bab0, 0x5346544e, 0x7366746e]);

/**
 * Lets a user read, write and delete in the recordings' folder, also files that others make there later. It uses access lists, so that no
 * other user loses a right. Returns the steps that are left to root where that is not possible.
 */
export function giveFolder(root: string, user: string): LeftStep[] {
  const commands = [
    ["setfacl", "-R", "-m", `u:${user}:rwX`, root],
    ["setfacl", "-dR", "-m", `u:${user}:rwX`, root],
  ];
  const leave = (why: string) => commands.map((command) => ({ command, why }));
  if (!existsSync(root)) return leave(`once ${root} is there: the user ${user} needs write access to it`);
  const ids = findUser(user);
  if (ids === undefined) return leave(`once the user ${user} is there: it needs write access to ${root}`);
  if (ids.uid === 0 || statSync(root).uid === ids.uid) return openWay(root, user, ids);
  if (ownerless.has(statfsSync(root).type)) return mayUser(ids, root, "rwx") ? [] : [mountFor(root, ids)];
  for (const [index, command] of commands.entries()) {
    const failure = runProgram(command);
    if (failure !== undefined)
      return commands.slice(index).map((left) => ({
        command: left,
        why: `the user ${user} needs write access to ${root}, and ${failure}${hintFor(failure)}`,
      }));
  }
  return openWay(root, user, ids);
}

function hintFor(failure: string): string {
  return failure.includes("there is no setfacl") ? " (it is in the package acl)" : "";
}

function mountFor(root: string, { uid, gid }: UserIds): LeftStep {
  return {
    command: undefined,
    why: `the file system of ${root} knows no owners: mount it with the options uid=${uid},gid=${gid}`,
  };
}

/** The folder may be open while a directory above it is closed. Only root can find that out. */
function openWay(root: string, user: string, ids: UserIds): LeftStep[] {
  if (process.getuid?.() !== 0) return [];
  const above: string[] = [];
  for (let at = dirname(root); at !== "/"; at = dirname(at)) above.unshift(at);
  return above
    .filter((directory) => !mayUser(ids, directory, "x"))
    .map((directory) => ({
      command: ["setfacl", "-m", `u:${user}:x`, directory],
      why: `the user ${user} may not enter ${directory}, which is above ${root}`,
    }));
}
