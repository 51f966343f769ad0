import type { FileVerdict } from "./judge-file.ts";

/** What an indexing thread does with one stored file, and what comes out. */
export interface Tasks {
  /** Reads every byte, and writes the verified index on the way. */
  index: { readonly input: { readonly fileName: string }; readonly result: IndexedFile };
}

/** `contentSha256`: of all bytes, hexadecimal. */
export interface IndexedFile {
  readonly contentSha256: string;
  readonly verdict: FileVerdict;
}

export type TaskName = keyof Tasks;

export interface Task<N extends TaskName = TaskName> {
  readonly name: N;
  readonly input: Tasks[N]["input"];
}

/** One task at a time; the bytes that it asks for come in any order. */
export type ToThread =
  | { readonly kind: "run"; readonly task: Task; readonly sizeBytes: number }
  | { readonly kind: "bytes"; readonly id: number; readonly bytes: Uint8Array<ArrayBuffer> }
  /** A piece of the index was taken. */
  | { readonly kind: "written"; readonly id: number };

export type FromThread =
  | { readonly kind: "read"; readonly id: number; readonly offset: number; readonly length: number }
  /** The next piece of the index. */
  | { readonly kind: "write"; readonly id: number; readonly bytes: Uint8Array }
  /** `heldBytes`: what the thread keeps, garbage included. */
  | { readonly kind: "done"; readonly result: Tasks[TaskName]["result"]; readonly heldBytes: number }
  | { readonly kind: "failed"; readonly error: unknown }
  | { readonly kind: "outOfMemory" };

/** What a thread is told when it starts. */
export interface ThreadData {
  readonly maxHeapBytes: number;
}
