import { readFileSync } from "node:fs";

const GROUPS_FILE = "/etc/group";

/** Finds a local group by its name, or any group by its number; undefined where there is none. */
export function findGroupId(group: string): number | undefined {
  if (/^\d+$/.test(group)) return Number(group);
  const gid = readGroups().find(([name]) => name === group)?.[2];
  return gid === undefined ? undefined : Number(gid);
}

function readGroups(): string[][] {
  try {
    return readFileSync(GROUPS_FILE, "utf8")
      .split("\n")
      .map((line) => line.split(":"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return []; // Not every system has local groups.
    throw error;
  }
}
