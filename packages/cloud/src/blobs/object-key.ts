import { createHash } from "node:crypto";

const KEY = /^[a-z0-9_-]{1,64}(\/[a-z0-9_-]{1,64}){0,2}$/;

/** Keys are texts that the server made; one of another shape is a fault of ours and throws a TypeError. */
export function checkKey(key: string): void {
  if (!KEY.test(key)) throw new TypeError(`not an object key: ${JSON.stringify(key)}`);
}

/** A key stands for one content for ever. */
export function etagOf(key: string): string {
  return createHash("sha256").update(key).digest("base64url").slice(0, 22);
}
