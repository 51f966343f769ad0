import { isMarkedAsUntransferable } from "node:worker_threads";

/**
 * The memory of everything binary in a message between threads, to be moved instead of copied: the sender must not use it any
 * more. Memory that Node shares among small buffers is left to be copied.
 */
export function transferOf(message: unknown): ArrayBuffer[] {
  const found = new Set<ArrayBuffer>();
  collect(message, found);
  return [...found];
}

function collect(value: unknown, found: Set<ArrayBuffer>): void {
  if (typeof value !== "object" || value === null || value instanceof Map) return;
  if (!ArrayBuffer.isView(value)) {
    for (const part of Object.values(value)) collect(part, found);
    return;
  }
  const { buffer } = value;
  if (buffer instanceof ArrayBuffer && !isMarkedAsUntransferable(buffer)) found.add(buffer);
}
