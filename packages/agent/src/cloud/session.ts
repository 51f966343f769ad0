import { ApiFailure, type CallOptions, type Client, NetworkFailure, retryDelayMs } from "@downlink/client";
import { api, type CallInput, leaseHeader, type Operation, type Output } from "@downlink/protocol";
import { createBell, pause } from "../bell.ts";
import type { Clock } from "../clock.ts";
import type { ProblemBoard } from "../problems.ts";
import { problemOf, provedOver } from "./describe-failure.ts";

export type Hello = CallInput<typeof api.edge.hello>;
export type Welcome = Output<typeof api.edge.hello>;

export interface Connection {
  readonly state: "connecting" | "connected" | "offline" | "held elsewhere" | "refused";
  /** Wall times, nanoseconds. */
  readonly sinceNs: bigint;
  readonly lastContactNs: bigint | undefined;
  /** Server's clock minus ours, at the last hello. */
  readonly clockSkewMs: number | undefined;
  readonly lastError: string | undefined;
}

export interface SessionContext {
  readonly client: Client;
  readonly clock: Clock;
  readonly problems: ProblemBoard;
  readonly makeHello: () => Hello;
  /** What it throws ends the session for good. */
  readonly onWelcome: (welcome: Welcome) => void;
}

/** The agent's standing with the cloud: every call but `hello` goes under the lease that the last hello gave. */
export interface CloudSession {
  /** Keeps a lease until aborted: says hello again whenever it was lost. */
  run(signal: AbortSignal): Promise<void>;
  /** Waits for a lease, then calls. Fails as the client does. */
  call<O extends Operation>(
    operation: O,
    input: CallInput<O>,
    options: CallOptions & { signal: AbortSignal },
  ): Promise<Output<O>>;
  /** Waits before the next try; after network trouble only until somebody else comes through. */
  waitToRetry(failure: unknown, attempt: number, signal: AbortSignal): Promise<void>;
  connection(): Connection;
}

const HELLO_TIMEOUT_MS = 30_000;
/** A lease that nobody renews lives for a minute: it is worth asking more often than after other refusals. */
const HELD_ELSEWHERE_LIMITS = { firstMs: 5000, capMs: 20_000 };

export function createSession(ctx: SessionContext): CloudSession {
  const lostBell = createBell();
  const sleepers = new Set<() => void>();
  let gate = Promise.withResolvers<number>();
  let lease: number | undefined;
  let connection: Connection = {
    state: "connecting",
    sinceNs: ctx.clock.nowNs(),
    lastContactNs: undefined,
    clockSkewMs: undefined,
    lastError: undefined,
  };

  const show = (changes: Partial<Connection>) => {
    const isNew = changes.state !== undefined && changes.state !== connection.state;
    connection = { ...connection, ...changes, ...(isNew ? { sinceNs: ctx.clock.nowNs() } : {}) };
  };
  const noteSuccess = () => {
    show({ state: "connected", lastContactNs: ctx.clock.nowNs(), lastError: undefined });
    ctx.problems.clear(...provedOver);
    for (const wake of sleepers) wake();
  };
  const noteFailure = (failure: unknown) => {
    const problem = problemOf(failure);
    if (!problem) return;
    const text = (failure as Error).message;
    ctx.problems.raise(problem, text);
    show({ state: stateOf(failure), lastError: text });
  };
  const dropLease = (lost: number) => {
    if (lease !== lost) return;
    lease = undefined;
    gate = Promise.withResolvers();
    lostBell.ring();
  };

  const sayHello = async (signal: AbortSignal) => {
    const sentMs = ctx.clock.monotonicMs();
    const welcome = await ctx.client.call(api.edge.hello, ctx.makeHello(), { signal, timeoutMs: HELLO_TIMEOUT_MS });
    const travelMs = (ctx.clock.monotonicMs() - sentMs) / 2;
    ctx.onWelcome(welcome);
    show({ clockSkewMs: Math.round(Number((welcome.serverTime - ctx.clock.nowNs()) / 1_000_000n) + travelMs) });
    noteSuccess();
    lease = welcome.lease;
    gate.resolve(lease);
  };

  return {
    async run(signal) {
      for (let attempt = 1; !signal.aborted; attempt++) {
        try {
          await sayHello(signal);
          attempt = 0;
          await lostBell.wait(signal);
        } catch (failure) {
          if (signal.aborted) return;
          if (!(failure instanceof ApiFailure || failure instanceof NetworkFailure)) throw failure;
          noteFailure(failure);
          if (problemOf(failure) === undefined) ctx.problems.raise("Refused", `hello: ${failure.message}`);
          await pause(helloDelayMs(failure, attempt, ctx.clock.random), signal);
        }
      }
    },
    async call(operation, input, options) {
      const held = await leaseOrAbort(() => gate.promise, options.signal);
      try {
        const headers = { ...options.headers, [leaseHeader]: String(held) };
        const answer = await ctx.client.call(operation, input, { ...options, headers });
        noteSuccess();
        return answer;
      } catch (failure) {
        if (options.signal.aborted) throw failure;
        noteFailure(failure);
        if (isLeaseTrouble(failure)) dropLease(held);
        throw failure;
      }
    },
    async waitToRetry(failure, attempt, signal) {
      const delayMs = retryDelayMs(failure, attempt, { random: ctx.clock.random });
      if (!(failure instanceof NetworkFailure)) return await pause(delayMs, signal);
      const bell = createBell();
      sleepers.add(bell.ring);
      await bell.wait(signal, delayMs);
      sleepers.delete(bell.ring);
    },
    connection: () => connection,
  };
}

function helloDelayMs(failure: unknown, attempt: number, random: () => number): number {
  const isHeld = failure instanceof ApiFailure && failure.code === "LeaseHeldElsewhere" && !failure.retryAfterMs;
  return retryDelayMs(failure, attempt, { random, limits: isHeld ? HELD_ELSEWHERE_LIMITS : undefined });
}

export function isLeaseTrouble(failure: unknown): boolean {
  if (!(failure instanceof ApiFailure)) return false;
  return failure.code === "LeaseLost" || failure.code === "LeaseHeldElsewhere" || failure.code === "Cloned";
}

function stateOf(failure: unknown): Connection["state"] {
  if (!(failure instanceof ApiFailure) || failure.code === undefined || failure.status >= 500) return "offline";
  return failure.code === "LeaseHeldElsewhere" ? "held elsewhere" : "refused";
}

async function leaseOrAbort(gate: () => Promise<number>, signal: AbortSignal): Promise<number> {
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const onAbort = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", onAbort);
  try {
    return await Promise.race([gate(), aborted.promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
