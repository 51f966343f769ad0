import type { Deps } from "../../calls/context/context.ts";
import { withSmallHeap } from "../../core/heap-growth.ts";
import { backUpTo, type Whereabouts } from "./back-up-to.ts";
import { BackupRunningError } from "./backup-errors.ts";

/** At most this many things that a backup lacks are logged one by one. */
const MAX_LINES = 100;

export interface ScheduledBackups {
  readonly settings: Whereabouts;
  /** The URL of the embedded database; undefined: the operator copies the database. */
  readonly embeddedUrl: string | undefined;
}

/**
 * Makes a backup as a job. One that fails or is cut off is tried again by the queue, and takes over what was copied; one that is complete and
 * lacks something is an error in the log. Nothing is done while another process makes one.
 */
export async function backUpBySchedule(
  deps: Pick<Deps, "db" | "blobs" | "clock" | "log"> & { readonly scheduledBackups: ScheduledBackups },
  signal: AbortSignal,
): Promise<void> {
  const { log, clock, scheduledBackups } = deps;
  const { settings, embeddedUrl } = scheduledBackups;
  const { schedule, to, address, retention } = settings.backups;
  if (schedule === undefined || to === undefined)
    return log.warn("a backup is due by the schedule of another process; this one has no DOWNLINK_BACKUP_SCHEDULE");
  let lacking = 0;
  const options = {
    ...{ to, address, keep: retention, databaseUrl: embeddedUrl, signal },
    nowMs: () => Number(clock.nowNs() / 1_000_000n),
    write: (line: string) => log.info(line),
    warn: (text: string) => {
      lacking += 1;
      if (lacking <= MAX_LINES) log.error(`the backup lacks something: ${text}`);
    },
  };
  try {
    const isWhole = await withSmallHeap(() => backUpTo(deps, settings, options));
    if (!isWhole) log.error({ lacking }, "the backup is complete, but does not count: it lacks something");
  } catch (error) {
    if (!(error instanceof BackupRunningError)) throw error;
    log.info("no backup is made by schedule: another one is being made");
  }
}
