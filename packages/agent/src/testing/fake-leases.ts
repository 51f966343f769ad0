import { RefusalError } from "./refusal.ts";

export interface FakeHello {
  readonly instanceId: string;
  readonly formerInstanceIds?: readonly string[];
  readonly lease?: number;
}

/** One agent at a time: who holds the lease, and until when. */
export class FakeLeases {
  #held: { number: number; instanceId: string; renewedMs: number } | undefined;
  #count = 0;

  /** Refuses while another agent holds a lease. `isAnother` is true for a new instance, whose reports are counted again. */
  take({ instanceId, formerInstanceIds = [], lease, leaseMs }: FakeHello & { leaseMs: number }): {
    number: number;
    isAnother: boolean;
  } {
    const held = this.#held;
    const isAnother = instanceId !== held?.instanceId;
    const isAlive = held !== undefined && performance.now() - held.renewedMs < leaseMs;
    const isRestart = lease === held?.number || formerInstanceIds.includes(held?.instanceId ?? "");
    if (isAlive && !isRestart && isAnother) throw new RefusalError("LeaseHeldElsewhere");
    return { number: this.#give(instanceId), isAnother };
  }

  /** Another agent has it now; it never renews it. */
  takeElsewhere(): void {
    this.#give("another");
  }

  /** Simulates a restored cloud: later leases are forgotten, and an earlier number is the last. */
  setBack(number: number): void {
    this.#count = number;
    this.#held = undefined;
  }

  renew(number: number): void {
    if (this.#held?.number !== number) throw new RefusalError("LeaseLost");
    this.#held.renewedMs = performance.now();
  }

  #give(instanceId: string): number {
    this.#held = { number: ++this.#count, instanceId, renewedMs: performance.now() };
    return this.#count;
  }
}
