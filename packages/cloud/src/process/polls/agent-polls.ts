import type { Logger } from "pino";
import type { AgentCaller } from "../../core/callers.ts";
import { isDatabaseAway } from "../../db/sql-state.ts";
import { ownerId } from "./agent-owner.ts";
import { type KnownWork, KnownWorks } from "./known-work.ts";
import type { LeaseRenewals } from "./lease-renewals.ts";
import type { SignalListener } from "./work-signals.ts";

/** A long poll that has nothing to answer yet. */
export interface AgentPoll {
  readonly caller: AgentCaller;
  readonly known: KnownWork;
  /** A time of the monotonic clock. */
  readonly endsAtMs: number;
  /** The poll held its lease at the last check, and waits only for its end. */
  isSure?: boolean;
  /** Answers that nothing changed. */
  answer(incarnation: string): void;
  /** Makes the call again, as if it arrived at this moment. */
  repeat(): void;
}

interface AgentPollsOptions {
  readonly renewals: LeaseRenewals;
  readonly log: Logger;
  readonly lookIntervalMs?: number;
}

/** An agent has one poll. Polls that a cut network left behind are not recognized for a while. */
export const MOST_POLLS = 4;
/** Ticks are this short so that only a few polls are answered at once. */
const TICK_MS = 50;
/** How often a waiting poll renews its lease, and checks whether it may wait on: signals report that at once, but one may be lost. */
const LOOK_INTERVAL_MS = 10_000;

/**
 * The long polls that wait in this process. All share one timer: at each tick the polls that are due are checked together. No query is made
 * for a single poll before there is something new for it.
 */
export class AgentPolls implements SignalListener, Disposable {
  readonly works = new KnownWorks();
  readonly #options: AgentPollsOptions;
  readonly #byOwner = new Map<string, Set<AgentPoll>>();
  /** Each poll that is not being checked is in one of these sets, by the tick at which it is due. */
  readonly #dueAt = new Map<number, Set<AgentPoll>>();
  readonly #ticking: NodeJS.Timeout;
  #nextTick = tickAt(performance.now());

  constructor(options: AgentPollsOptions) {
    this.#options = options;
    this.#ticking = setInterval(() => this.#tick(), TICK_MS).unref();
  }

  /** Counts the polls that wait for the owner's work. */
  waiting(owner: string): number {
    return this.#byOwner.get(owner)?.size ?? 0;
  }

  /**
   * Adds a poll, and renews its lease at once. If the agent has too many, the oldest one is answered, because a cut network left it behind.
   */
  hold(poll: AgentPoll): void {
    const owner = ownerId(poll.caller);
    const ofOwner = this.#byOwner.get(owner) ?? new Set();
    this.#byOwner.set(owner, ofOwner.add(poll));
    const [oldest] = ofOwner;
    if (oldest && ofOwner.size > MOST_POLLS && this.#take(oldest)) answer(oldest);
    void this.#look(poll);
  }

  /** The caller has gone away. */
  drop(poll: AgentPoll): void {
    this.#take(poll);
  }

  onSignal(owner: string): void {
    this.works.onSignal(owner);
    for (const poll of this.#byOwner.get(owner) ?? []) if (this.#take(poll)) poll.repeat();
  }

  /** Each poll reads again when it is due, so not all do it at the same moment. */
  onMissedSignals(): void {
    this.works.onMissedSignals();
  }

  /** Answers all polls, because a control plane that stops lets no agent wait. */
  answerAll(): void {
    for (const polls of [...this.#byOwner.values()]) for (const poll of polls) if (this.#take(poll)) answer(poll);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#ticking);
  }

  /** Returns false if the poll is gone already. */
  #take(poll: AgentPoll): boolean {
    const owner = ownerId(poll.caller);
    const ofOwner = this.#byOwner.get(owner);
    if (!ofOwner?.delete(poll)) return false;
    if (ofOwner.size === 0) this.#byOwner.delete(owner);
    return true;
  }

  #isHeld(poll: AgentPoll): boolean {
    return this.#byOwner.get(ownerId(poll.caller))?.has(poll) ?? false;
  }

  #tick(): void {
    for (const now = tickAt(performance.now()); this.#nextTick <= now; this.#nextTick++) {
      const due = this.#dueAt.get(this.#nextTick);
      this.#dueAt.delete(this.#nextTick);
      for (const poll of due ?? []) if (this.#isHeld(poll)) this.#attend(poll);
    }
  }

  #attend(poll: AgentPoll): void {
    if (this.works.of(ownerId(poll.caller)) !== poll.known) this.#repeat(poll);
    else if (!poll.isSure || !isOver(poll)) void this.#look(poll);
    else if (this.#take(poll)) answer(poll);
  }

  async #look(poll: AgentPoll): Promise<void> {
    try {
      const { isRenewed, incarnation } = await this.#options.renewals.renew(poll.caller);
      if (!isRenewed || incarnation !== poll.known.incarnation) return this.#repeat(poll);
      poll.isSure = true;
    } catch (error) {
      if (!isDatabaseAway(error)) this.#options.log.error({ err: error }, "leases could not be renewed");
      if (isOver(poll)) return this.#repeat(poll);
    }
    this.#attendLater(poll);
  }

  #repeat(poll: AgentPoll): void {
    if (this.#take(poll)) poll.repeat();
  }

  #attendLater(poll: AgentPoll): void {
    if (!this.#isHeld(poll)) return;
    const { lookIntervalMs = LOOK_INTERVAL_MS } = this.#options;
    const atMs = Math.min(performance.now() + lookIntervalMs, poll.endsAtMs);
    const tick = Math.max(tickAt(atMs), this.#nextTick);
    const due = this.#dueAt.get(tick) ?? new Set();
    this.#dueAt.set(tick, due.add(poll));
  }
}

function isOver({ endsAtMs }: AgentPoll): boolean {
  return performance.now() >= endsAtMs;
}

function answer(poll: AgentPoll): void {
  poll.answer(poll.known.incarnation);
}

function tickAt(ms: number): number {
  return Math.ceil(ms / TICK_MS);
}
