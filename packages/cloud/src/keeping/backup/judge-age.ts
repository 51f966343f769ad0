import { CronExpressionParser } from "cron-parser";

/** Without a schedule here, backups once a week are good enough, with a day for the backup itself. */
const OLD_MS = 8 * 86_400_000;

interface Age {
  /** When the last backup began that lacks nothing; undefined: there was none. */
  readonly lastMs: number | undefined;
  /** The beginning of the deployment. */
  readonly begunMs: number;
  readonly schedule: string | undefined;
  readonly nowMs: number;
}

/**
 * Says whether an operator has to look after the backups. With a schedule they may miss one turn, because a backup may take until the next
 * one. Without a schedule they may be made in another way, so that only those that stopped count.
 */
export function areBackupsOverdue({ lastMs, begunMs, schedule, nowMs }: Age): boolean {
  if (schedule === undefined) return lastMs !== undefined && nowMs - lastMs > OLD_MS;
  const turns = CronExpressionParser.parse(schedule, { tz: "UTC", currentDate: new Date(nowMs) });
  turns.prev();
  return (lastMs ?? begunMs) < turns.prev().getTime();
}
