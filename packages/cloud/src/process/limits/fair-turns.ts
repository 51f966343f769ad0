// Waiting callers are served by turns, organization by organization and token by token, so that a burst of calls does not come before the
// next call of another caller. Calls of one token wait before the database is asked whose it is: otherwise 200 heartbeats at the same
// moment would lock one row, with all connections waiting for it.

import { ApiError } from "../../core/errors.ts";

export interface TurnLimits {
  /** The limit in this process, for all owners together. */
  readonly atOnce: number;
  /**
   * One owner never has all turns: turns that it holds and does not use, as for an export that its client does not read, leave room for
   * others.
   */
  readonly perOwner: number;
  /**
   * The limit for a token that is alone: its owner uses no other one, and for one second no other owner has asked for a turn. Absent:
   * `perOwner`. Use it only for short tasks, because a task that has begun is not stopped when another owner comes.
   */
  readonly alone?: number;
  /** The limit for one token of an owner; absent: the same as for the owner. */
  readonly perToken?: number;
  /** How many callers of one owner may wait; a later one is refused at once. */
  waiting: number;
  /** The same for one token of an owner; absent: the same as for the owner. */
  readonly waitingPerToken?: number;
  readonly waitMs: number;
  /** The code of a refusal; absent: `Unavailable`. */
  readonly code?: "Unavailable" | "RateLimited";
}

export interface Taker {
  /** Turns are shared fairly between owners: mostly an organization. */
  readonly owner: string;
  /** Within the owner, turns are shared fairly between tokens. */
  readonly token?: string;
  /** The caller continues a task that it was allowed to begin: it waits as long as it takes, and is not refused. */
  readonly hasBegun?: boolean;
}

interface Line {
  running: number;
  waiting: Set<() => void>;
}

interface Owner {
  readonly id: string;
  running: number;
  waiting: number;
  /** By token, in the order in which they are served. */
  readonly lines: Map<string, Line>;
}

interface Waiter {
  readonly owner: Owner;
  readonly line: Line;
  readonly hasBegun: boolean;
}

const RETRY_AFTER_SECONDS = 5;
/** The time since another owner asked. */
const ALONE_AFTER_MS = 1000;

/** Lets a number of tasks run at once. Waiting callers are served by turns: owner by owner, and of one owner token by token. */
export class FairTurns {
  readonly #what: string;
  readonly #limits: TurnLimits;
  readonly #nowMs: () => number;
  #running = 0;
  /** The last owner that asked, when it asked, and when another one had asked before it. */
  readonly #last = { ownerId: "", askedMs: Number.NEGATIVE_INFINITY, othersMs: Number.NEGATIVE_INFINITY };
  /** The owners in the order in which they are served. */
  readonly #owners = new Map<string, Owner>();

  /** `what` names the tasks in a refusal. */
  constructor(what: string, limits: TurnLimits, nowMs = () => performance.now()) {
    this.#what = what;
    this.#limits = limits;
    this.#nowMs = nowMs;
  }

  /** A turn lasts until it is disposed of. Throws a refusal if too many wait or it takes too long, and the signal's reason. */
  async take(taker: Taker, signalOf: () => AbortSignal): Promise<Disposable> {
    const { owner: ownerId, token = "", hasBegun = false } = taker;
    const owner = this.#owners.get(ownerId) ?? { id: ownerId, running: 0, waiting: 0, lines: new Map<string, Line>() };
    const line = owner.lines.get(token) ?? { running: 0, waiting: new Set() };
    this.#owners.set(ownerId, owner);
    owner.lines.set(token, line);
    this.#note(ownerId);
    try {
      // The owner may have become alone since it was last looked at: then those of its callers go first that wait already.
      if (owner.waiting > 0) while (this.#serveNext());
      if (this.#mayGo(owner, line)) this.#begin(owner, line);
      else await this.#wait({ owner, line, hasBegun }, signalOf());
    } catch (error) {
      this.#tidy(ownerId, token);
      throw error;
    }
    return { [Symbol.dispose]: () => this.#end(ownerId, token) };
  }

  /** Counts the owner's tasks that run at this moment or wait for a turn. */
  countOf(ownerId: string): number {
    const { running, waiting } = this.#owners.get(ownerId) ?? { running: 0, waiting: 0 };
    return running + waiting;
  }

  #mayGo(owner: Owner, line: Line): boolean {
    const { atOnce, perOwner, perToken = perOwner, alone = 0 } = this.#limits;
    if (this.#running >= atOnce) return false;
    if (owner.running < perOwner && line.running < perToken) return true;
    return owner.lines.size === 1 && owner.running < alone && this.#isAlone(owner);
  }

  #note(ownerId: string): void {
    const last = this.#last;
    if (last.ownerId !== ownerId) last.othersMs = last.askedMs;
    last.ownerId = ownerId;
    last.askedMs = this.#nowMs();
  }

  #isAlone({ id, running }: Owner): boolean {
    const { ownerId, askedMs, othersMs } = this.#last;
    return running === this.#running && this.#nowMs() - (ownerId === id ? othersMs : askedMs) > ALONE_AFTER_MS;
  }

  #begin(owner: Owner, line: Line): void {
    this.#running += 1;
    owner.running += 1;
    line.running += 1;
  }

  async #wait({ owner, line, hasBegun }: Waiter, signal: AbortSignal): Promise<void> {
    const { waiting, waitingPerToken = waiting, waitMs } = this.#limits;
    const isFull = owner.waiting >= waiting || line.waiting.size >= waitingPerToken;
    if (isFull && !hasBegun) throw this.#busy("and as many as may wait for them");
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const onAbort = () => reject(signal.reason);
    const giveUp = () => reject(this.#busy(`for ${waitMs / 1000} s`));
    const timer = hasBegun ? undefined : setTimeout(giveUp, waitMs);
    signal.addEventListener("abort", onAbort, { once: true });
    owner.waiting += 1;
    line.waiting.add(resolve);
    try {
      await promise;
    } finally {
      if (line.waiting.delete(resolve)) owner.waiting -= 1;
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
    }
  }

  #end(ownerId: string, token: string): void {
    const owner = this.#owners.get(ownerId)!;
    const line = owner.lines.get(token)!;
    this.#running -= 1;
    owner.running -= 1;
    line.running -= 1;
    while (this.#serveNext());
    this.#tidy(ownerId, token);
  }

  /** Serves the first caller that may run, and moves its owner and token to the end of the order. */
  #serveNext(): boolean {
    for (const [ownerId, owner] of this.#owners) {
      if (owner.waiting === 0) continue;
      for (const [token, line] of owner.lines) {
        const [next] = line.waiting;
        if (!next || !this.#mayGo(owner, line)) continue;
        line.waiting.delete(next);
        owner.waiting -= 1;
        this.#begin(owner, line);
        toEnd(owner.lines, token, line);
        toEnd(this.#owners, ownerId, owner);
        next();
        return true;
      }
    }
    return false;
  }

  #tidy(ownerId: string, token: string): void {
    const owner = this.#owners.get(ownerId);
    const line = owner?.lines.get(token);
    if (line?.running === 0 && line.waiting.size === 0) owner!.lines.delete(token);
    if (owner?.lines.size === 0) this.#owners.delete(ownerId);
  }

  #busy(more: string): ApiError {
    const { code = "Unavailable" } = this.#limits;
    return new ApiError(code, `as many ${this.#what} as may be at once are under way, ${more}; try again`, {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  }
}

function toEnd<T>(order: Map<string, T>, key: string, value: T): void {
  order.delete(key);
  order.set(key, value);
}
