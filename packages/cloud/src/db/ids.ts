import { randomBytes } from "node:crypto";

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"; // Crockford's base 32: sorts as it counts, no letters to mix up

/** What an id names; its prefix. spec: wire contract, ids */
export type IdPrefix =
  | "agt"
  | "att"
  | "cp"
  | "dev"
  | "dpi"
  | "dt"
  | "ef"
  | "evt"
  | "evtt"
  | "ext"
  | "extv"
  | "imp"
  | "key"
  | "org"
  | "prj"
  | "rec"
  | "req"
  | "sess"
  | "site"
  | "snt"
  | "st"
  | "upl"
  | "whev";

/** A new id: 48 bits of milliseconds, then 80 random bits. Later ids sort later, so that they index well. */
export function newId(prefix: IdPrefix, nowMs: number = Date.now()): string {
  const bytes = Buffer.alloc(16);
  bytes.writeUIntBE(nowMs, 0, 6);
  randomBytes(10).copy(bytes, 6);
  return `${prefix}_${base32(bytes)}`;
}

function base32(bytes: Buffer): string {
  let value = BigInt(`0x${bytes.toString("hex")}`);
  let text = "";
  for (let digit = 0; digit < 26; digit++) {
    text = ALPHABET[Number(value & 31n)] + text;
    value >>= 5n;
  }
  return text;
}
