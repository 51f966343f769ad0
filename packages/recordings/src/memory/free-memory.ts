/**
 * Gives large memory back at once: nothing may use it any more, nor other views of it. Waiting for a collection would let
 * hundreds of megabytes pile up that V8 knows little of, and every new buffer would cost page faults.
 */
export function freeMemory({ buffer }: Uint8Array): void {
  // What Node shares among small buffers is never larger than its pool.
  if (buffer instanceof ArrayBuffer && buffer.byteLength > Math.max(smallBytes, Buffer.poolSize)) buffer.transfer(0);
}

const smallBytes = 64 * 1024;

/** The same of bytes that have their memory for themselves; others are left to the collector. */
export function freeOwn(bytes: Uint8Array): void {
  if (bytes.byteLength === bytes.buffer.byteLength) freeMemory(bytes);
}
