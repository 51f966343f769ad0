// Long polls wake by NOTIFY. Triggers (`prisma/functions/work-signals.sql`) send it with the commit of every change of an agent's work or
// token, so that no writer can forget it, and never with a heartbeat or a report of known files.

import type { Logger } from "pino";
import { ChannelListener } from "../../db/channel-listener.ts";

const PROOF_INTERVAL_MS = 15_000;
/**
 * Every process has a connection whose name begins so. Commits that signal wait for each other, because Postgres holds one lock from the
 * notification until the commit is durable: 16 connections made 400 to 780 of them a second, on two busy cores with a disk, and 4,400 to
 * 7,500 that signal nothing, with or without the others.
 */
export const WORK_SIGNALS = "downlink-work-signals";

export interface SignalListener {
  /** The work of the owner's agent, or its right to ask for it, may have changed. */
  onSignal(ownerId: string): void;
  /** All of it may have changed, because no signals were received for a while. */
  onMissedSignals(): void;
}

interface WorkSignalsOptions {
  readonly url: string;
  readonly log: Logger;
  readonly listener: SignalListener;
  /** The short name of the object store that the process uses; Postgres shows it with the connection. */
  readonly store?: string;
  readonly proofIntervalMs?: number;
  readonly proofTimeoutMs?: number;
}

/**
 * Listens in every process of the control plane for the signals that triggers of the database send with each commit. A lost signal costs a
 * wait, never correctness: a waiting poll checks its token, lease and incarnation every 10 s, and known work is read again after 5 minutes
 * at the latest.
 */
export function listenForWorkSignals({
  listener,
  store,
  proofIntervalMs = PROOF_INTERVAL_MS,
  ...options
}: WorkSignalsOptions): Promise<ChannelListener> {
  return ChannelListener.start({
    ...options,
    proofIntervalMs,
    channel: "downlink_work",
    name: store === undefined ? WORK_SIGNALS : `${WORK_SIGNALS} ${store}`,
    onMessage: (ownerId) => listener.onSignal(ownerId),
    onGap: () => listener.onMissedSignals(),
  });
}
