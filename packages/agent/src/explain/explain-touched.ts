import { lstatSync } from "node:fs";
import { type FileState, isBeforeIndexing } from "../inventory/file-state.ts";
import { fileNumber } from "../inventory/identity.ts";
import { isFileSystemError } from "../system/system-error.ts";
import type { Explanation } from "./explanation.ts";

/** The entries of the state database and of the file system for a file. */
interface Known {
  readonly state: FileState;
  readonly inode: bigint;
  readonly sizeBytes: bigint;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
}

/** Explains a file that was touched since the agent looked at it: it waits until the agent knows that its content is the same. */
export function explainTouched(known: Known, absolutePath: string): Pick<Explanation, "why" | "next"> | undefined {
  const stats = lookAt(absolutePath);
  if (stats === "forbidden") return undefined; // The agent's own record explains the file.
  if (!stats && leavesByItself.has(known.state)) return undefined;
  if (!stats)
    return {
      why: "It is not at this path any more, and no scan has noticed that yet.",
      next: "If it was renamed, the agent knows it by its new name, which `agent ls` shows. Otherwise it counts as gone after two scans.",
    };
  if (isBeforeIndexing(known.state) || stats.size !== known.sizeBytes) return undefined;
  const isSameEntry = fileNumber(stats.ino) === fileNumber(BigInt.asUintN(64, known.inode));
  if (isSameEntry && stats.mtimeNs === known.mtimeNs && stats.ctimeNs === known.ctimeNs) return undefined;
  return {
    why: `${describeChange(known, stats, isSameEntry)} since the agent looked at it.`,
    next: "It is read again, slowly. With the same content it stays the same recording, in its state; with other content it is a new recording.",
  };
}

function describeChange(known: Known, stats: { readonly mtimeNs: bigint }, isSameEntry: boolean): string {
  if (!isSameEntry) return "It was copied, or its file system mounted again,";
  if (stats.mtimeNs !== known.mtimeNs) return "It was written or touched";
  return "Its mode, owner or links changed, or its bytes did and its time was set back,";
}

const leavesByItself: ReadonlySet<FileState> = new Set(["deleting", "gone"]);

function lookAt(path: string) {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false });
  } catch (error) {
    if (isFileSystemError(error)) return "forbidden";
    throw error;
  }
}
