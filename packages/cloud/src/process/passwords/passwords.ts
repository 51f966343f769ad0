// Passwords are hashed by scrypt with 32 MiB each. Two are hashed at one time and 20 wait; any further one is answered 429, so that a flood
// of tries costs neither memory nor threads that others need. An unknown e-mail address costs as much as a known one.
//
// Tries that fail are counted for an account from one address, which is then refused until the counted minutes end, and for an account
// from everywhere, whose next tries are delayed a little. An account is never locked, so that no client can lock a user out.

import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { RateLimiterMemory } from "rate-limiter-flexible";
import { ApiError } from "../../core/errors.ts";

/** How often scrypt mixes its memory, of which it needs 1 KiB each. */
const ROUNDS = 2 ** 15;
const COST = { r: 8, p: 1, maxmem: 64 * 1024 * 1024 };
const HASH_BYTES = 32;
const AT_ONCE = 2;
const MOST_WAITING = 20;
const RETRY_AFTER_SECONDS = 2;
const WINDOW_SECONDS = 600;
const TRIES_FROM_ONE_ADDRESS = 10;
const TRIES_BEFORE_DELAY = 30;
const DELAY_MS = 1000;

/** Whose password is tried, and from where. */
export interface Try {
  readonly email: string;
  readonly address: string;
}

/** The hashing of passwords of one process, and the tries that failed there. */
export class Passwords {
  readonly #waiting: (() => void)[] = [];
  readonly #fromOneAddress = new RateLimiterMemory({ points: TRIES_FROM_ONE_ADDRESS, duration: WINDOW_SECONDS });
  readonly #ofAccount = new RateLimiterMemory({ points: TRIES_BEFORE_DELAY, duration: WINDOW_SECONDS });
  readonly #rounds: number;
  #running = 0;

  /** Tests, which hash often, take fewer rounds. */
  constructor({ rounds = ROUNDS }: { readonly rounds?: number | undefined } = {}) {
    this.#rounds = rounds;
  }

  /** Returns what is stored of a password: the salt and the hash. */
  async hash(password: string): Promise<string> {
    const salt = randomBytes(16);
    const hashed = await this.#inTurn(() => this.#derive(password, salt));
    return `scrypt$${salt.toString("base64url")}$${hashed.toString("base64url")}`;
  }

  /** Says whether the password is the one that is stored; for an account without one it takes as long, and is false. */
  async matches(password: string, stored: string | null | undefined): Promise<boolean> {
    const [, salt = "", hashed = ""] = (stored ?? "").split("$");
    const found = await this.#inTurn(() => this.#derive(password, Buffer.from(salt, "base64url")));
    const wanted = Buffer.from(hashed, "base64url");
    return wanted.length === found.length && timingSafeEqual(wanted, found);
  }

  /**
   * Throws `RateLimited` if too many tries of this kind failed before, or are under way. Each counts as failed from here on, so that no more
   * than these go on side by side; `takeBack` takes one off that was right.
   */
  async admit({ email, address }: Try): Promise<void> {
    const tried = await this.#fromOneAddress.penalty(pair(email, address));
    if (tried.consumedPoints > TRIES_FROM_ONE_ADDRESS)
      throw newTooManyError("passwords were tried for this e-mail address", Math.ceil(tried.msBeforeNext / 1000));
    const everywhere = await this.#ofAccount.get(email);
    if (everywhere !== null && everywhere.consumedPoints >= TRIES_BEFORE_DELAY) await delay(DELAY_MS);
  }

  async noteFailure({ email }: Try): Promise<void> {
    await this.#ofAccount.penalty(email);
  }

  async takeBack({ email, address }: Try): Promise<void> {
    await this.#fromOneAddress.reward(pair(email, address));
  }

  #derive(password: string, salt: Buffer): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const done = (error: Error | null, key: Buffer) => (error ? reject(error) : resolve(key));
      scrypt(password.normalize("NFC"), salt, HASH_BYTES, { ...COST, N: this.#rounds }, done);
    });
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= AT_ONCE) {
      if (this.#waiting.length >= MOST_WAITING)
        throw newTooManyError("people sign in at this moment", RETRY_AFTER_SECONDS);
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting.push(resolve);
      await promise; // who ends passes its turn on
    } else this.#running += 1;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running -= 1;
    }
  }
}

function pair(email: string, address: string): string {
  return `${address} ${email}`;
}

function newTooManyError(what: string, retryAfterSeconds: number): ApiError {
  return new ApiError("RateLimited", `too many ${what}; wait ${retryAfterSeconds} s`, { retryAfterSeconds });
}
