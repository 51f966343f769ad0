import type { FileVerdict, Refusal } from "./judge-file.ts";

/** The tasks of an indexing thread for one stored file, and their results. */
export interface Tasks {
  /** Reads every byte, and makes the verified index in pieces. */
  readonly index: { readonly input: { readonly fileName: string }; readonly result: IndexedFile };
  /** Makes a new file of what is readable, in pieces; the result says why there is no file, or no whole one. */
  readonly salvage: { readonly input: SalvageInput; readonly result: Refusal | undefined };
}

/** `contentSha256` is the hash of all bytes, in hexadecimal. */
export interface IndexedFile {
  readonly contentSha256: string;
  readonly verdict: FileVerdict;
}

export interface SalvageInput {
  readonly fileName: string;
  /** The metadata record of the new file that names its source. The thread adds to the facts what was readable and what was lost. */
  readonly record: { readonly name: string; readonly facts: Readonly<Record<string, string>> };
}

export type TaskName = keyof Tasks;

export interface Task<N extends TaskName = TaskName> {
  readonly name: N;
  readonly input: Tasks[N]["input"];
}

/** There is one task at a time; the requested bytes come in any order. */
export type ToThread = { readonly kind: "run"; readonly task: Task; readonly sizeBytes: number } | Answer;

/** The answer to a request or a piece of the thread, by its id. */
export type Answer =
  | { readonly kind: "bytes"; readonly id: number; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly kind: "taken"; readonly id: number }
  | { readonly kind: "held"; readonly id: number };

export type FromThread =
  | { readonly kind: "read"; readonly id: number; readonly offset: number; readonly length: number }
  /** A piece of the file or index that the task makes; the next one comes once this one is taken. */
  | { readonly kind: "piece"; readonly id: number; readonly bytes: Uint8Array<ArrayBuffer> }
  /** The thread asks for much memory until it releases it, and gets an answer when its turn has come. */
  | { readonly kind: "hold"; readonly id: number; readonly sizeBytes: number }
  | { readonly kind: "release"; readonly id: number }
  /** `heldBytes` is the memory that the thread keeps, garbage included. */
  | { readonly kind: "done"; readonly result: Tasks[TaskName]["result"]; readonly heldBytes: number }
  | { readonly kind: "failed"; readonly error: unknown }
  | { readonly kind: "outOfMemory" };

/** The values that a thread gets at its start. */
export interface ThreadData {
  readonly maxHeapBytes: number;
}
