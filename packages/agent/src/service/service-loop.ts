import { execFile } from "node:child_process";
import type { Log } from "../diagnostics/log.ts";
import { createWakeSignal, pause } from "../loops/wake-signal.ts";

export interface ServiceContext {
  readonly log: Log;
  /** Whether the loops make progress. Where they do not, the watchdog is not fed, and systemd restarts the agent. */
  readonly isProgressing: () => boolean;
  /** The status in a few words, for `systemctl status`. */
  readonly describe: () => string;
  /** Whether the process ends with the loop: an agent that only starts again must not say that it stops. */
  readonly isEnding: () => boolean;
}

/** The interval for the unit's `WatchdogSec=60`, where the environment does not give one. */
const FEED_EVERY_MS = 20_000;
const NOTIFY_TIMEOUT_MS = 10_000;

/** Says that the agent is ready, feeds the watchdog while it makes progress, and says that it stops. */
export async function runServiceLoop(ctx: ServiceContext, signal: AbortSignal): Promise<void> {
  if (!hasServiceManager()) return await createWakeSignal().wait(signal);
  await notifyServiceManager(ctx.log, "READY=1", statusOf(ctx));
  while (!signal.aborted) {
    if (ctx.isProgressing()) await notifyServiceManager(ctx.log, "WATCHDOG=1", statusOf(ctx));
    else ctx.log.error("no progress: the watchdog is not fed");
    await pause(feedEveryMs(), signal);
  }
  if (ctx.isEnding()) await notifyServiceManager(ctx.log, "STOPPING=1");
}

function statusOf({ describe }: ServiceContext): string {
  return `STATUS=${describe()}`;
}

/** Returns a third of the time after which systemd restarts the agent. */
function feedEveryMs(): number {
  const watchdogMs = Number(process.env.WATCHDOG_USEC) / 1000;
  return watchdogMs > 0 ? Math.floor(watchdogMs / 3) : FEED_EVERY_MS;
}

/** Returns whether a service manager waits for notifications. */
function hasServiceManager(): boolean {
  return process.env.NOTIFY_SOCKET !== undefined;
}

/**
 * Notifies systemd, for example with `READY=1` or `STATUS=…`. It runs `systemd-notify`, because Node has no Unix datagram
 * sockets, and so the unit needs `NotifyAccess=all`. A notification that fails is only logged.
 */
export function notifyServiceManager(log: Log, ...assignments: readonly string[]): Promise<void> {
  if (!hasServiceManager()) return Promise.resolve();
  return new Promise((resolve) => {
    execFile("systemd-notify", assignments, { timeout: NOTIFY_TIMEOUT_MS }, (error) => {
      if (error) log.warn({ err: error }, "systemd cannot be notified");
      resolve();
    });
  });
}
