import type { Log } from "../diagnostics/log.ts";
import { createWakeSignal, pause } from "../loops/wake-signal.ts";
import { hasServiceManager, notifyServiceManager } from "./notify.ts";

export interface ServiceContext {
  readonly log: Log;
  /** Whether the loops come round. Without it the watchdog is not fed, and systemd starts the agent anew. */
  readonly isProgressing: () => boolean;
  /** In a few words, for `systemctl status`. */
  readonly describe: () => string;
  /** Whether the process ends with the loop: who only begins anew does not stop, and must not say so. */
  readonly isEnding: () => boolean;
}

/** As the unit's `WatchdogSec=60` wants it, where the environment does not say. */
const FEED_EVERY_MS = 20_000;

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

/** A third of the time after which systemd gives us up. */
function feedEveryMs(): number {
  const watchdogMs = Number(process.env.WATCHDOG_USEC) / 1000;
  return watchdogMs > 0 ? Math.floor(watchdogMs / 3) : FEED_EVERY_MS;
}
