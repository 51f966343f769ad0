import type { QueuedImport } from "@downlink/protocol";

const SOON: ReadonlySet<string> = new Set(["BehindOthers", "AgentToStart"]);

/** Returns whether anything is on its way or about to be, so that it is worth asking every few seconds. */
export function isMoving(queue: readonly QueuedImport[], processing: readonly unknown[]): boolean {
  if (processing.length > 0) return true;
  return queue.some(({ state, waitsFor }) => state === "uploading" || (waitsFor && SOON.has(waitsFor.code)));
}
