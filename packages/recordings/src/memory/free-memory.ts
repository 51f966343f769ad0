/**
 * Gives large memory back at once. Nothing may use it or another view of it afterwards. Without this, hundreds of megabytes that V8 knows
 * little of would pile up until a garbage collection, and every new buffer would cost page faults.
 */
export function freeMemory({ buffer }: Uint8Array): void {
  // Memory that Node shares among small buffers is never larger than its pool.
  if (buffer instanceof ArrayBuffer && buffer.byteLength > Math.max(SMALL_BYTES, Buffer.poolSize)) buffer.transfer(0);
}

const SMALL_BYTES = 64 * 1024;

/** Gives memory back only if the bytes have it for themselves; other memory is left to the garbage collector. */
export function freeOwn(bytes: Uint8Array): void {
  if (bytes.byteLength === bytes.buffer.byteLength) freeMemory(bytes);
}
