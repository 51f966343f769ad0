// Passwords are hashed by scrypt with 32 MiB each. The callers take turns for it (`turns.passwords`), so that a flood of tries costs neither
// memory nor threads that others need.

import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";

/** How often scrypt mixes its memory, of which it needs 1 KiB each. */
const ROUNDS = 2 ** 15;
const COST = { r: 8, p: 1, maxmem: 64 * 1024 * 1024 };
const HASH_BYTES = 32;

/** The hashing of passwords. */
export class Passwords {
  readonly #rounds: number;

  /** Tests, which hash often, take fewer rounds. */
  constructor({ rounds = ROUNDS }: { readonly rounds?: number | undefined } = {}) {
    this.#rounds = rounds;
  }

  /** Returns what is stored of a password: the salt and the hash. */
  async hash(password: string): Promise<string> {
    const salt = randomBytes(16);
    const hashed = await this.#derive(password, salt);
    return `scrypt$${salt.toString("base64url")}$${hashed.toString("base64url")}`;
  }

  /** Says whether the password is the one that is stored; for an account without one it takes as long, and is false. */
  async matches(password: string, stored: string | null | undefined): Promise<boolean> {
    const [, salt = "", hashed = ""] = (stored ?? "").split("$");
    const found = await this.#derive(password, Buffer.from(salt, "base64url"));
    const wanted = Buffer.from(hashed, "base64url");
    return wanted.length === found.length && timingSafeEqual(wanted, found);
  }

  #derive(password: string, salt: Buffer): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const done = (error: Error | null, key: Buffer) => (error ? reject(error) : resolve(key));
      scrypt(password.normalize("NFC"), salt, HASH_BYTES, { ...COST, N: this.#rounds }, done);
    });
  }
}
