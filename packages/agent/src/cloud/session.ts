import { ApiCallError, type CallOptions, type Client, NetworkError, retryDelayMs } from "@downlink/client";
import {
  api,
  type CallInput,
  edgeLimits,
  INCARNATION_HEADER,
  LEASE_HEADER,
  type Operation,
  type Output,
} from "@downlink/protocol";
import type { ProblemBoard } from "../diagnostics/problems.ts";
import { cloudCalls } from "../durable/durable-steps.ts";
import { pause } from "../loops/wake-signal.ts";
import type { Clock } from "../system/clock.ts";
import { type Connection, type ConnectionMonitor, createConnectionMonitor } from "./connection.ts";
import { isCloudFailure, problemOf } from "./describe-failure.ts";
import { createLeaseGate, type LeaseGate } from "./lease-gate.ts";

export type Hello = CallInput<typeof api.edge.hello>;
export type Welcome = Output<typeof api.edge.hello>;

export interface SessionContext {
  readonly client: Pick<Client, "call">;
  readonly clock: Clock;
  readonly problems: ProblemBoard;
  /** Is awaited before each hello. */
  readonly prepare: (signal: AbortSignal) => Promise<unknown>;
  readonly makeHello: () => Hello;
  /** An error that it throws ends the session. */
  readonly onWelcome: (welcome: Welcome) => void;
  /** Is called when the cloud was restored from a backup since the last hello. A new hello follows. */
  readonly onOtherIncarnation: () => void;
}

/** The agent's session with the cloud: every call but `hello` carries the lease that the last hello gave. */
export interface CloudSession {
  /** Holds a lease until aborted: says hello again whenever the lease was lost. */
  run(signal: AbortSignal): Promise<void>;
  /** Waits for a lease, then calls. Fails as the client does. */
  call<O extends Operation>(
    operation: O,
    input: CallInput<O>,
    options: CallOptions & { signal: AbortSignal },
  ): Promise<Output<O>>;
  /** Waits before the next try; after a network failure only until another call succeeds. */
  waitToRetry(failure: unknown, attempt: number, signal: AbortSignal): Promise<void>;
  connection(): Connection;
  /** How long the cloud lets a poll for work wait; it is known once a lease is held. */
  longPollSeconds(): number;
}

const HELLO_TIMEOUT_MS = 30_000;
/** A lease that is not renewed ends after a minute, so the agent asks more often than after other refusals. */
const heldElsewhereLimits = { firstMs: 5000, capMs: 20_000 };

export function createSession(ctx: SessionContext): CloudSession {
  const client = tracedClient(ctx.client);
  const monitor = createConnectionMonitor(ctx);
  const gate = createLeaseGate();
  const { formerLongPollSeconds: longPollSeconds } = edgeLimits;
  const greeted: Greeted = { incarnation: undefined, isOver: false, longPollSeconds };
  const onHeaders = (lease: number) => (answered: ReadonlyMap<string, string>) => {
    const incarnation = answered.get(INCARNATION_HEADER) ?? greeted.incarnation;
    if (incarnation === greeted.incarnation || gate.current() !== lease) return;
    greeted.isOver = true;
    ctx.onOtherIncarnation();
    gate.close(lease);
  };
  return {
    run: (signal) => keepLease({ ...ctx, client, monitor, gate, greeted }, signal),
    async call(operation, input, options) {
      const lease = await gate.pass(options.signal);
      try {
        const headers = { ...options.headers, [LEASE_HEADER]: String(lease) };
        const answer = await client.call(operation, input, { ...options, headers, onHeaders: onHeaders(lease) });
        monitor.noteSuccess();
        return answer;
      } catch (failure) {
        if (options.signal.aborted) throw failure;
        monitor.noteFailure(failure);
        if (isLeaseTrouble(failure)) gate.close(lease);
        // An older control plane may have replaced the one that answered the hello: it does not take longer polls.
        const isRefused = failure instanceof ApiCallError && failure.code === "InvalidRequest";
        if (isRefused && operation.path === api.edge.work.path)
          greeted.longPollSeconds = edgeLimits.formerLongPollSeconds;
        throw failure;
      }
    },
    async waitToRetry(failure, attempt, signal) {
      const delayMs = retryDelayMs(failure, attempt, ctx.clock);
      if (failure instanceof NetworkError) await monitor.untilReachable(delayMs, signal);
      else await pause(delayMs, signal);
    },
    connection: monitor.current,
    longPollSeconds: () => greeted.longPollSeconds,
  };
}

function tracedClient(client: SessionContext["client"]): SessionContext["client"] {
  return {
    call: (operation, ...rest) =>
      cloudCalls.tracePromise(() => client.call(operation, ...rest), { what: "call", operation: operation.path }),
  };
}

/** The incarnation of the cloud that answered the last hello. */
interface Greeted {
  incarnation: string | undefined;
  /** That incarnation is over. */
  isOver: boolean;
  longPollSeconds: number;
}

type Keeping = SessionContext & {
  readonly monitor: ConnectionMonitor;
  readonly gate: LeaseGate;
  readonly greeted: Greeted;
};

/** While a restore goes on, processes of two incarnations answer in turn: this keeps hellos from following each other at once. */
const SHORTEST_LEASE_MS = 1000;

async function keepLease(ctx: Keeping, signal: AbortSignal): Promise<void> {
  for (let attempt = 1; !signal.aborted; attempt++) {
    try {
      await ctx.prepare(signal);
      await sayHello(ctx, signal);
      attempt = 0;
      await holdLease(ctx, signal);
    } catch (failure) {
      if (signal.aborted) return;
      if (!isCloudFailure(failure)) throw failure;
      ctx.monitor.noteFailure(failure);
      if (problemOf(failure) === undefined) ctx.problems.raise("Refused", `hello: ${failure.message}`);
      await pause(helloDelayMs(failure, attempt, ctx.clock), signal);
    }
  }
}

/** Ends when the lease is lost, and the next hello may be said. */
async function holdLease({ clock, gate, greeted }: Keeping, signal: AbortSignal): Promise<void> {
  const heldMs = clock.monotonicMs();
  await gate.untilClosed(signal);
  const isShort = clock.monotonicMs() - heldMs < SHORTEST_LEASE_MS;
  if (greeted.isOver && isShort) await pause(SHORTEST_LEASE_MS, signal);
}

async function sayHello({ client, monitor, gate, greeted, ...ctx }: Keeping, signal: AbortSignal): Promise<void> {
  const welcome = await client.call(api.edge.hello, ctx.makeHello(), { signal, timeoutMs: HELLO_TIMEOUT_MS });
  const { incarnation, longPollSeconds = edgeLimits.formerLongPollSeconds } = welcome;
  Object.assign(greeted, {
    incarnation,
    isOver: false,
    longPollSeconds: Math.min(longPollSeconds, edgeLimits.longPollSeconds),
  } satisfies Greeted);
  ctx.onWelcome(welcome);
  ctx.problems.clear("Refused");
  monitor.noteSuccess();
  gate.open(welcome.lease);
}

function helloDelayMs(failure: unknown, attempt: number, { random }: Clock): number {
  const isHeld = failure instanceof ApiCallError && failure.code === "LeaseHeldElsewhere" && !failure.retryAfterMs;
  return retryDelayMs(failure, attempt, { random, limits: isHeld ? heldElsewhereLimits : undefined });
}

export function isLeaseTrouble(failure: unknown): boolean {
  if (!(failure instanceof ApiCallError)) return false;
  return failure.code === "LeaseLost" || failure.code === "LeaseHeldElsewhere" || failure.code === "Cloned";
}
