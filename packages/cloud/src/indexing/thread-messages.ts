import type { FileVerdict, Refusal } from "./judge-file.ts";

/** What an indexing thread does with one stored file, and what comes out. */
export interface Tasks {
  /** Reads every byte, and makes the verified index, in pieces. */
  readonly index: { readonly input: { readonly fileName: string }; readonly result: IndexedFile };
  /** What is readable of the file as a new one, in pieces; the result says why there is none, or none that is whole. */
  readonly salvage: { readonly input: SalvageInput; readonly result: Refusal | undefined };
}

/** `contentSha256`: of all bytes, hexadecimal. */
export interface IndexedFile {
  readonly contentSha256: string;
  readonly verdict: FileVerdict;
}

export interface SalvageInput {
  readonly fileName: string;
  /** The metadata record of the new file that says where it comes from. What was readable and what was lost is added to the facts. */
  readonly record: { readonly name: string; readonly facts: Readonly<Record<string, string>> };
}

export type TaskName = keyof Tasks;

export interface Task<N extends TaskName = TaskName> {
  readonly name: N;
  readonly input: Tasks[N]["input"];
}

/** One task at a time; the bytes that it asks for come in any order. */
export type ToThread = { readonly kind: "run"; readonly task: Task; readonly sizeBytes: number } | Answer;

/** Answers what the thread asked or gave, by its id. */
export type Answer =
  | { readonly kind: "bytes"; readonly id: number; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly kind: "taken"; readonly id: number }
  | { readonly kind: "held"; readonly id: number };

export type FromThread =
  | { readonly kind: "read"; readonly id: number; readonly offset: number; readonly length: number }
  /** A piece of the file or index that the task makes; the next one comes once this one is taken. */
  | { readonly kind: "piece"; readonly id: number; readonly bytes: Uint8Array<ArrayBuffer> }
  /** Much memory is to be used at once, until it is released: told when its turn has come. */
  | { readonly kind: "hold"; readonly id: number; readonly sizeBytes: number }
  | { readonly kind: "release"; readonly id: number }
  /** `heldBytes`: what the thread keeps, garbage included. */
  | { readonly kind: "done"; readonly result: Tasks[TaskName]["result"]; readonly heldBytes: number }
  | { readonly kind: "failed"; readonly error: unknown }
  | { readonly kind: "outOfMemory" };

/** What a thread is told when it starts. */
export interface ThreadData {
  readonly maxHeapBytes: number;
}
