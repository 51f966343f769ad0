import { type DaemonOptions, runDaemon } from "../daemon/daemon.ts";
import { createLog } from "../diagnostics/log.ts";
import { pause } from "../loops/wake-signal.ts";
import { notifyServiceManager } from "../service/service-loop.ts";
import type { SettingSources, Settings } from "../settings/settings.ts";
import { isStateCorrupt, isStateUnwritable } from "../state/state-errors.ts";
import { releaseReserve } from "../state/state-reserve.ts";

/** Corrupt state is set aside, and the agent starts again. Where that happens more often, the disk is broken. */
const MAX_REBUILDS = 3;
/** A disk that was full at the start may have room later. */
const UNWRITABLE_PAUSE_MS = 10_000;
/** Work that does not end within this time after a signal is dropped, because all that matters is recorded already. */
const GRACE_MS = 8000;

/** Runs the daemon until SIGTERM or SIGINT; a second signal ends it at once. With `sources` it follows changes of the settings. */
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

/** Begins again with changed settings, with state that was found corrupt, and with state that could not be written. */
async function runRebuilding(options: DaemonOptions): Promise<void> {
  const { log, signal } = options;
  let { settings } = options;
  let rebuilds = 0;
  do {
    try {
      const next = await runDaemon({ ...options, settings });
      if (!next) return;
      settings = next;
      rebuilds = 0;
    } catch (error) {
      if (isStateUnwritable(error)) {
        await makeRoom(options, settings.stateDir, error);
        continue;
      }
      if (!isStateCorrupt(error) || rebuilds === MAX_REBUILDS) throw error;
      rebuilds += 1;
      log.error({ err: error }, "the state database is corrupt; the agent starts over");
    }
  } while (!signal.aborted);
}

/** Gives up the reserve of the disk at once; where there is none, the agent waits until others make room. */
async function makeRoom({ log, signal }: DaemonOptions, stateDir: string, error: unknown): Promise<void> {
  if (releaseReserve(stateDir)) return;
  log.error({ err: error }, "the state directory cannot be written; the agent waits");
  await notifyServiceManager(log, "READY=1", "WATCHDOG=1", "STATUS=waits: the state directory cannot be written");
  await pause(UNWRITABLE_PAUSE_MS, signal);
}
