import { readFile, realpath, stat } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Returns whether a file system of its own is mounted at a directory. It is not for the empty directory beneath, for a folder that is bound
 * to another place of the same disk, and for an automounter that waits for a card.
 */
export async function isMountPoint(directory: string): Promise<boolean> {
  const path = await realpath(directory);
  const [own, parent] = await Promise.all([stat(path, { bigint: true }), stat(dirname(path), { bigint: true })]);
  if (own.dev === parent.dev) return false;
  const types = await mountedTypes(path);
  return types === undefined || (types.length > 0 && types.at(-1) !== "autofs");
}

/** Returns the types of the file systems that are mounted there, the topmost last; undefined where the system does not say. */
async function mountedTypes(path: string): Promise<string[] | undefined> {
  try {
    const lines = (await readFile("/proc/self/mountinfo", "utf8")).split("\n");
    return lines.flatMap((line) => {
      const [before = "", after = ""] = line.split(" - ");
      return unescapeOctal(before.split(" ")[4] ?? "") === path ? [after.split(" ")[0] ?? ""] : [];
    });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** The system writes spaces, tabs, line breaks and backslashes as `\\040` and the like. */
function unescapeOctal(text: string): string {
  const bytes = text.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
  return bytes;
}
