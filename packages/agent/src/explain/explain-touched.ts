import { lstatSync } from "node:fs";
import { type FileState, isBeforeIndexing } from "../inventory/file-state.ts";
import { fileNumber } from "../inventory/identity.ts";
import type { Explanation } from "./explanation.ts";

/** What the state database and the file system say about a file. */
interface Known {
  readonly state: FileState;
  readonly inode: bigint;
  readonly sizeBytes: bigint;
  readonly mtimeNs: bigint;
}

/** Explains a file that was touched since the agent looked at it: it waits until the agent knows that its content is the same. */
export function explainTouched(known: Known, absolutePath: string): Pick<Explanation, "why" | "next"> | undefined {
  const stats = lstatSync(absolutePath, { bigint: true, throwIfNoEntry: false });
  if (!stats || isBeforeIndexing(known.state) || stats.size !== known.sizeBytes) return undefined;
  const isSameEntry = fileNumber(stats.ino) === fileNumber(BigInt.asUintN(64, known.inode));
  if (isSameEntry && stats.mtimeNs === known.mtimeNs) return undefined;
  return {
    why: `It was ${isSameEntry ? "written or touched" : "copied, or its file system mounted anew,"} since the agent looked at it.`,
    next: "It is read again, slowly: with the same content it is the same recording, and goes on as it was; with another one it is a new recording.",
  };
}
