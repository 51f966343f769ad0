import { type DaemonOptions, runDaemon } from "../daemon/daemon.ts";
import { createLog } from "../diagnostics/log.ts";
import { pause } from "../loops/bell.ts";
import { notifyServiceManager } from "../service/notify.ts";
import type { SettingSources, Settings } from "../settings/settings.ts";
import { isStateCorrupt, isStateUnwritable } from "../state/state-errors.ts";
import { releaseReserve } from "../state/state-reserve.ts";

/** State that is found corrupt is set aside and the agent begins anew; more often than this, the disk is broken. */
const MAX_REBUILDS = 3;
/** A disk that was full at the start may have room later. */
const UNWRITABLE_PAUSE_MS = 10_000;
/** What does not end by itself within this time after a signal is dropped: all that matters is recorded already. */
const GRACE_MS = 8000;

/** Runs the daemon until SIGTERM or SIGINT, and with `sources` follows what changes there. A second signal ends it at once. */
export async function runUntilStopped(settings: Settings, sources?: SettingSources): Promise<void> {
  const log = createLog({ format: settings.logFormat, level: settings.logLevel, out: process.stdout });
  const stop = new AbortController();
  const onSignal = (name: NodeJS.Signals) => {
    if (stop.signal.aborted) process.exit(1);
    log.info({ signal: name }, "stopping");
    stop.abort();
    setTimeout(() => process.exit(0), GRACE_MS).unref();
  };
  process.on("SIGTERM", onSignal).on("SIGINT", onSignal);
  try {
    await runRebuilding({ settings, sources, log, signal: stop.signal });
  } finally {
    process.off("SIGTERM", onSignal).off("SIGINT", onSignal);
  }
}

async function runRebuilding(options: DaemonOptions): Promise<void> {
  const { log, signal } = options;
  let { settings } = options;
  for (let rebuilds = 0; ; rebuilds++) {
    try {
      const next = await runDaemon({ ...options, settings });
      if (!next) return;
      [settings, rebuilds] = [next, -1];
    } catch (error) {
      if (isStateUnwritable(error)) {
        rebuilds -= 1;
        if (releaseReserve(settings.stateDir)) continue;
        log.error({ err: error }, "the state directory cannot be written; the agent waits");
        await notifyServiceManager(log, "READY=1", "WATCHDOG=1", "STATUS=waits: the state directory cannot be written");
        await pause(UNWRITABLE_PAUSE_MS, signal);
        if (signal.aborted) return;
        continue;
      }
      if (!isStateCorrupt(error) || rebuilds === MAX_REBUILDS) throw error;
      log.error({ err: error }, "the state database is corrupt; the agent begins anew");
    }
  }
}
