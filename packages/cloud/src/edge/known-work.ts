import type { SignalHearer } from "./work-signals.ts";

/** What was last read for an agent. Who asks again is answered from it, as long as nobody said that it may have changed. */
export interface KnownWork {
  readonly etag: string;
  readonly maxRequests: number | undefined;
  /** The whole answer as it goes out; undefined where it is too large to be kept. */
  readonly body: string | undefined;
  /** The cloud's, after it was read. */
  readonly incarnation: string;
}

interface Kept {
  readonly known: KnownWork;
  readonly untilMs: number;
}

/** Of a fleet at rest each answer is a few hundred bytes. */
const MAX_KEPT_LENGTH = 16_384;
/** After so long it is read anew, though nobody said anything: a signal may be lost. Not for all agents at once. */
const SHORTEST_TRUST_MS = 240_000;
const LONGEST_TRUST_MS = 300_000;

export function keptBody(body: string): string | undefined {
  return body.length <= MAX_KEPT_LENGTH ? body : undefined;
}

/** By the owner's id, in this process. Who begins to read hears of every change from then on. */
export class KnownWorks implements SignalHearer {
  readonly #kept = new Map<string, Kept>();
  readonly #reading = new Map<string, symbol>();

  of(ownerId: string): KnownWork | undefined {
    const kept = this.#kept.get(ownerId);
    return kept && performance.now() < kept.untilMs ? kept.known : undefined;
  }

  /** What was read is known from then on, unless it may have changed meanwhile. */
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
    const trustMs = SHORTEST_TRUST_MS + Math.random() * (LONGEST_TRUST_MS - SHORTEST_TRUST_MS);
    this.#kept.set(ownerId, { known, untilMs: performance.now() + trustMs });
  }

  hear(ownerId: string): void {
    this.#reading.delete(ownerId);
    this.#kept.delete(ownerId);
  }

  hearNothing(): void {
    this.#reading.clear();
    this.#kept.clear();
  }
}
