import { closeSync, fchmodSync, fsyncSync, openSync, renameSync, writeSync } from "node:fs";
import { open } from "node:fs/promises";
import { dirname } from "node:path";
import { durableWrites } from "./durable-steps.ts";

/** Replaces a small file as a whole: after a crash at any instant it holds the old text or the new one. */
export function writeDurableFile(path: string, text: string, mode = 0o644): void {
  const partial = `${path}.partial`;
  const file = openSync(partial, "w", mode);
  try {
    fchmodSync(file, mode); // A file that a crash left keeps its own mode otherwise.
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  durableWrites.traceSync(() => renameSync(partial, path), { what: "file", path });
  syncDirectoryNow(dirname(path));
}

function syncDirectoryNow(path: string): void {
  const directory = openSync(path, "r");
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}

/** After this, a power cut undoes nothing that was made, moved or removed in the directory. */
export async function syncDirectory(path: string): Promise<void> {
  await using directory = await open(path, "r");
  await directory.sync();
}
