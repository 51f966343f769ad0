import { randomBytes } from "node:crypto";

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"; // Crockford's base 32: sorts as it counts, no letters to mix up

/** What an id names; its prefix. spec: wire contract, ids */
export type IdPrefix =
  | "agt"
  | "att"
  | "cp"
  | "dev"
  | "dpi"
  | "ds"
  | "dt"
  | "ef"
  | "ep"
  | "evt"
  | "evtt"
  | "exp"
  | "ext"
  | "extv"
  | "idx"
  | "imp"
  | "key"
  | "org"
  | "prj"
  | "prm"
  | "rec"
  | "req"
  | "sess"
  | "site"
  | "slv"
  | "snt"
  | "st"
  | "upl"
  | "view"
  | "whev";

/** A new id: 48 bits of milliseconds, then 80 random bits. Later ids sort later, so that they index well. */
export function newId(prefix: IdPrefix, nowMs: number = Date.now()): string {
  const bytes = Buffer.alloc(16);
  bytes.writeUIntBE(nowMs, 0, 6);
  randomBytes(10).copy(bytes, 6);
  return `${prefix}_${base32(bytes)}`;
}

function base32(bytes: Buffer): string {
  let text = "";
  let rest = 0;
  let bits = 2; // 26 digits hold two more than there are
  for (const byte of bytes) {
    rest = ((rest & 31) << 8) | byte;
    for (bits += 8; bits >= 5; bits -= 5) text += ALPHABET[(rest >> (bits - 5)) & 31];
  }
  return text;
}
