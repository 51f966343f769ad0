import type { SignalListener } from "./work-signals.ts";

/** The work that was last read for an agent. A repeated poll is answered from it, as long as no signal says that it may have changed. */
export interface KnownWork {
  readonly etag: string;
  readonly maxRequests: number | undefined;
  /** The whole answer as it is sent; undefined if it is too large to be kept. */
  readonly body: string | undefined;
  /** The cloud's incarnation, read after the work. */
  readonly incarnation: string;
}

interface Kept {
  readonly known: KnownWork;
  readonly untilMs: number;
}

/** Each answer to a fleet at rest has a few hundred bytes. */
const MAX_KEPT_LENGTH = 16_384;
/** An answer is read again after this time, because a signal may be lost; a random share is added, so that not all agents do it at once. */
const SHORTEST_TRUST_MS = 240_000;
const LONGEST_TRUST_MS = 300_000;

/** The limits of all answers together, and of agents. The answers that were kept first are forgotten first, and read again. */
const MAX_ALL_CHARACTERS = 64 * 1024 * 1024;
const MAX_OWNERS = 100_000;

export function keepShortBody(body: string): string | undefined {
  return body.length <= MAX_KEPT_LENGTH ? body : undefined;
}

/**
 * The known work by the owner's id, in this process. Every change that is signalled after a read began is noticed. Work that is too old is
 * removed as others come, because not every agent comes again.
 */
export class KnownWorks implements SignalListener {
  readonly #nowMs: () => number;
  /** The answers, in the order in which they were kept. */
  readonly #kept = new Map<string, Kept>();
  #characters = 0;
  readonly #reading = new Map<string, symbol>();

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  /** Returns how many answers are kept, and their size. */
  get size(): { readonly owners: number; readonly characters: number } {
    return { owners: this.#kept.size, characters: this.#characters };
  }

  of(ownerId: string): KnownWork | undefined {
    const kept = this.#kept.get(ownerId);
    return kept && this.#nowMs() < kept.untilMs ? kept.known : undefined;
  }

  /** Reads the work, which is known from then on, unless it may have changed meanwhile. */
  async read<R extends { known: KnownWork }>(ownerId: string, read: () => Promise<R>): Promise<R> {
    const own = Symbol(ownerId);
    this.#reading.set(ownerId, own);
    try {
      const found = await read();
      if (this.#reading.get(ownerId) === own) this.#keep(ownerId, found.known);
      return found;
    } finally {
      if (this.#reading.get(ownerId) === own) this.#reading.delete(ownerId);
    }
  }

  #keep(ownerId: string, known: KnownWork): void {
    const nowMs = this.#nowMs();
    const trustMs = SHORTEST_TRUST_MS + Math.random() * (LONGEST_TRUST_MS - SHORTEST_TRUST_MS);
    this.#forget(ownerId);
    this.#kept.set(ownerId, { known, untilMs: nowMs + trustMs });
    this.#characters += known.body?.length ?? 0;
    for (const [first, { untilMs }] of this.#kept) {
      const isTooMuch = this.#kept.size > MAX_OWNERS || this.#characters > MAX_ALL_CHARACTERS;
      if (nowMs < untilMs && !isTooMuch) return;
      this.#forget(first);
    }
  }

  #forget(ownerId: string): void {
    this.#characters -= this.#kept.get(ownerId)?.known.body?.length ?? 0;
    this.#kept.delete(ownerId);
  }

  onSignal(ownerId: string): void {
    this.#reading.delete(ownerId);
    this.#forget(ownerId);
  }

  onMissedSignals(): void {
    this.#reading.clear();
    this.#kept.clear();
    this.#characters = 0;
  }
}
