import { hash, randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const RANDOM_BYTES = 30;

/** The kinds of token, recognized by their prefix. */
export type TokenKind = "dl_sk" | "dl_dt" | "dl_st" | "dl_snt" | "dl_ses" | "dl_inv" | "dl_rst" | "dl_dc" | "dl_idt";

/** Makes a new token: a prefix, 240 random bits, and a checksum for secret scanners. Show it once, and store only its {@link hashToken}. */
export function mintToken(kind: TokenKind): string {
  const random = base62(randomBytes(RANDOM_BYTES), 41);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(`${kind}_${random}`));
  return `${kind}_${random}${base62(checksum, 6)}`;
}

/** Returns what is stored of a token: its SHA-256 in hexadecimal. */
export function hashToken(token: string): string {
  return hash("sha256", token);
}

function base62(bytes: Buffer, length: number): string {
  let value = BigInt(`0x${bytes.toString("hex")}`);
  let text = "";
  while (value > 0n) {
    text = BASE62[Number(value % 62n)] + text;
    value /= 62n;
  }
  return text.padStart(length, "0");
}
