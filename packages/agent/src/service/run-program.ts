import { spawnSync } from "node:child_process";

/** Runs a program. Returns undefined when it succeeded, otherwise its message. */
export function runProgram(command: readonly string[]): string | undefined {
  const [program, ...args] = command as [string, ...string[]];
  const { error, status, stderr } = spawnSync(program, args, { encoding: "utf8" });
  const isMissing = ["ENOENT", "EACCES"].includes((error as NodeJS.ErrnoException | undefined)?.code ?? "");
  if (error) return isMissing ? `there is no ${program} here` : error.message;
  if (status === 0) return undefined;
  return stderr.trim().split("\n")[0] || `${program} ended with ${status}`;
}

export interface UserIds {
  readonly uid: number;
  readonly gid: number;
}

/** Returns the ids of a user; undefined where there is no such user. */
export function findUser(name: string): UserIds | undefined {
  const [uid, gid] = ["-u", "-g"].map((flag) =>
    Number(spawnSync("id", [flag, name], { encoding: "utf8" }).stdout || Number.NaN),
  );
  return Number.isInteger(uid) && Number.isInteger(gid) ? { uid: uid!, gid: gid! } : undefined;
}

/** Returns whether the system lets a user do something: `what` is any choice of `rwx`. Only root can ask for others. */
export function mayUser({ uid, gid }: UserIds, path: string, what: string): boolean {
  const tests = [...what].flatMap((letter, index) => [...(index === 0 ? [] : ["-a"]), `-${letter}`, path]);
  return spawnSync("test", tests, { uid, gid }).status === 0;
}
