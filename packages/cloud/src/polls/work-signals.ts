// Long polls wake by NOTIFY, which triggers send with the commit of whatever changes an agent's work or its token:
// no writer can forget it. A lost signal costs a wait, never correctness: a poll that waits looks at its token,
// lease and incarnation every 10 s, and what is known of an agent's work is read anew after 5 minutes at the latest.
//
// Commits that signal wait for each other, because Postgres holds one lock from the notification until the commit is
// durable: 16 connections made 400 to 780 of them a second, on two busy cores with a disk. Commits that signal nothing
// are not held up: 4,400 to 7,500 a second, alone as beside the others. So triggers signal only what changes an agent's
// work or its token, and never a heartbeat or a report of what is known.

import type { Logger } from "pino";
import { ChannelListener } from "../db/channel-listener.ts";

const PROOF_INTERVAL_MS = 15_000;

export interface SignalListener {
  /** What is wanted of the owner's agent may have changed, or who may ask. */
  onSignal(ownerId: string): void;
  /** So may all of it: for a while nothing was heard. */
  onMissedSignals(): void;
}

interface Options {
  readonly url: string;
  readonly log: Logger;
  readonly listener: SignalListener;
  readonly proofIntervalMs?: number;
  readonly proofTimeoutMs?: number;
}

/**
 * Listens in every process of the control plane for what the triggers of the database signal of agents, with the commit of whatever
 * changes. A lost signal costs a wait, never correctness.
 */
export function listenForWorkSignals({
  listener,
  proofIntervalMs = PROOF_INTERVAL_MS,
  ...options
}: Options): Promise<ChannelListener> {
  return ChannelListener.start({
    ...options,
    proofIntervalMs,
    channel: "downlink_work",
    name: "downlink-work-signals",
    onMessage: (ownerId) => listener.onSignal(ownerId),
    onGap: () => listener.onMissedSignals(),
  });
}
