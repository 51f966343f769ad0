import { CronExpressionParser } from "cron-parser";
import { z } from "zod";
import type { Retention } from "./choose-backups.ts";
import type { PlaceAddress } from "./open-place.ts";

export interface BackupSettings {
  /** When a worker makes a backup by itself: five fields of cron, in UTC. Undefined: never. */
  readonly schedule: string | undefined;
  /** The place of the backups: a folder, or `s3://bucket/prefix`. Undefined: commands name it. */
  readonly to: string | undefined;
  /** Where the place is, if it is a bucket elsewhere, and whether it is encrypted. */
  readonly address: PlaceAddress;
  /** Which backups stay in the place. */
  readonly retention: Retention;
}

const Count = z.coerce.number().int().min(0).max(9999);

const Schedule = z
  .string()
  .trim()
  .refine(isSchedule, "must be five fields of cron such as 30 2 * * *, which is every night at 2:30 UTC");

export const backupShape = {
  DOWNLINK_BACKUP_SCHEDULE: Schedule.optional(),
  DOWNLINK_BACKUP_TO: z.string().optional(),
  DOWNLINK_BACKUP_S3_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
  DOWNLINK_BACKUP_S3_REGION: z.string().optional(),
  DOWNLINK_BACKUP_S3_FORCE_PATH_STYLE: z.enum(["true", "false"]).optional(),
  DOWNLINK_BACKUP_KEY_FILE: z.string().optional(),
  DOWNLINK_BACKUP_KEEP_DAILY: Count.default(7),
  DOWNLINK_BACKUP_KEEP_WEEKLY: Count.default(4),
  DOWNLINK_BACKUP_KEEP_MONTHLY: Count.default(0),
};

type Read = z.output<z.ZodObject<typeof backupShape>>;

/** Calls `complain` for each of these settings that does not fit the others. */
export function judgeBackups(read: Read, complain: (name: string, message: string) => void): void {
  const { DOWNLINK_BACKUP_SCHEDULE: schedule, DOWNLINK_BACKUP_TO: to } = read;
  if (schedule !== undefined && to === undefined)
    complain("DOWNLINK_BACKUP_TO", "is missing; DOWNLINK_BACKUP_SCHEDULE makes backups there");
}

export function backupSettingsOf(read: Read): BackupSettings {
  const pathStyle = read.DOWNLINK_BACKUP_S3_FORCE_PATH_STYLE;
  return {
    schedule: read.DOWNLINK_BACKUP_SCHEDULE,
    to: read.DOWNLINK_BACKUP_TO,
    address: {
      endpoint: read.DOWNLINK_BACKUP_S3_ENDPOINT,
      region: read.DOWNLINK_BACKUP_S3_REGION,
      keyFile: read.DOWNLINK_BACKUP_KEY_FILE,
      ...(pathStyle !== undefined && { forcePathStyle: pathStyle === "true" }),
    },
    retention: {
      daily: read.DOWNLINK_BACKUP_KEEP_DAILY,
      weekly: read.DOWNLINK_BACKUP_KEEP_WEEKLY,
      monthly: read.DOWNLINK_BACKUP_KEEP_MONTHLY,
    },
  };
}

/** Says whether a text is what the job queue understands as well, and a time that ever comes. */
function isSchedule(text: string): boolean {
  if (text.split(/\s+/).length !== 5) return false;
  try {
    return CronExpressionParser.parse(text, { tz: "UTC" }).hasNext();
  } catch {
    return false;
  }
}
