import { readdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { nameWithoutCompression, recordingFormatOf } from "@downlink/recordings";
import { shellWord } from "@downlink/terminal/shell-word";
import type { Settings } from "../settings/settings.ts";
import { type Finding, warn } from "./finding.ts";

/** The search ends here: a root with more entries has other problems. */
const MOST_ENTRIES = 500_000;

/** Looks for recordings that are compressed as a whole, by their names: the agent passes them without a word. */
export async function checkCompressed({ storageRoot }: Pick<Settings, "storageRoot">): Promise<Finding[]> {
  if (storageRoot === undefined) return [];
  const { count, first } = await findCompressed(storageRoot);
  if (first === undefined) return [];
  const name = shellWord(relative(storageRoot, first));
  const which = count > 1 ? `${name} and ${count - 1} more are` : `${name} is`;
  const text = `${which} compressed as a whole, and not looked at`;
  const fix = `Have the recorder compress chunks instead of files. \`agent explain ${name}\` says how to open one.`;
  return [warn("Compressed files", text, fix)];
}

async function findCompressed(root: string): Promise<{ count: number; first: string | undefined }> {
  const waiting = [root];
  let first: string | undefined;
  let [count, seen] = [0, 0];
  for (let folder = waiting.pop(); folder !== undefined && seen < MOST_ENTRIES; folder = waiting.pop()) {
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []); // What cannot be read is said elsewhere.
    for (const entry of entries) {
      seen += 1;
      const path = join(folder, entry.name);
      if (entry.isDirectory()) waiting.push(path);
      if (!entry.isFile() || recordingFormatOf(nameWithoutCompression(entry.name) ?? "") === undefined) continue;
      first ??= path;
      count += 1;
    }
  }
  return { count, first };
}
