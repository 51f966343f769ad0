import { CronExpressionParser } from "cron-parser";
import type { Deps } from "../../calls/context/context.ts";
import { findLastBackup } from "../../recovery/known-backups.ts";

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

export interface BackupState {
  /** When the last backup began that lacks nothing; undefined: there was none. */
  readonly lastNs: bigint | undefined;
  readonly isOverdue: boolean;
}

/** Finds out when the last backup was made, and whether an operator has to look. */
export async function readBackupState({
  db: { prisma },
  clock,
  backupSchedule: schedule,
}: Pick<Deps, "db" | "clock" | "backupSchedule">): Promise<BackupState> {
  const lastNs = (await findLastBackup(prisma)) ?? undefined;
  const { _min: first } = await prisma.organization.aggregate({ _min: { createdAtNs: true } });
  const nowNs = clock.nowNs();
  const times = { nowMs: toMs(nowNs), begunMs: toMs(first.createdAtNs ?? nowNs) };
  const lastMs = lastNs === undefined ? undefined : toMs(lastNs);
  return { lastNs, isOverdue: areBackupsOverdue({ ...times, lastMs, schedule }) };
}

function toMs(ns: bigint): number {
  return Number(ns / 1_000_000n);
}
