/** Writes a decoded message as JSON: bytes as base64, and as texts the integers of 64 bits and the numbers that JSON does not have. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value, (_name, part: unknown) => replace(part));
}

function replace(part: unknown): unknown {
  if (typeof part === "bigint") return String(part);
  if (typeof part === "number") return Number.isFinite(part) ? part : String(part);
  if (part instanceof Uint8Array) return Buffer.from(part.buffer, part.byteOffset, part.byteLength).toString("base64");
  return ArrayBuffer.isView(part) ? Array.from(part as unknown as ArrayLike<unknown>) : part;
}
