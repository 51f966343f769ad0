import { randomBytes } from "node:crypto";

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"; // Crockford's base 32: sorts as it counts, no letters to mix up

/** The prefix of an id, which says what the id names. spec: wire contract, ids */
export type IdPrefix =
  | "acc"
  | "agt"
  | "att"
  | "aud"
  | "cp"
  | "dev"
  | "dpi"
  | "dsi"
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
  | "inv"
  | "key"
  | "map"
  | "mem"
  | "obj"
  | "org"
  | "prj"
  | "prm"
  | "rec"
  | "rel"
  | "req"
  | "sess"
  | "site"
  | "skey"
  | "slv"
  | "cut"
  | "snt"
  | "st"
  | "sv"
  | "tf"
  | "thumb"
  | "ts"
  | "upl"
  | "view"
  | "wh"
  | "whev";

/** Makes a new id: 48 bits of milliseconds, then 80 random bits. Later ids sort later, which keeps indexes small and fast. */
export function newId(prefix: IdPrefix, nowMs: number = Date.now()): string {
  const bytes = Buffer.alloc(16);
  bytes.writeUIntBE(nowMs, 0, 6);
  randomBytes(10).copy(bytes, 6);
  return `${prefix}_${base32(bytes)}`;
}

function base32(bytes: Buffer): string {
  let text = "";
  let rest = 0;
  let bits = 2; // 26 digits hold two bits more than the id has
  for (const byte of bytes) {
    rest = ((rest & 31) << 8) | byte;
    for (bits += 8; bits >= 5; bits -= 5) text += ALPHABET[(rest >> (bits - 5)) & 31];
  }
  return text;
}

/** The id of the one thing that comes of another: who makes it again, makes the same. */
export function idFrom(prefix: IdPrefix, id: string): string {
  return `${prefix}${id.slice(id.indexOf("_"))}`;
}
