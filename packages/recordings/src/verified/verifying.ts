import type { ReadContext } from "../reading/read-context.ts";
import type { Schema, Survey } from "../survey/survey.ts";
import type { ActivityLog } from "./activity-log.ts";
import type { DamageLog } from "./damage-log.ts";
import type { ForwardReader } from "./forward-reader.ts";
import type { VerifiedRun } from "./verified-run.ts";

/** The state that the steps of reading a whole recording share. */
export interface Verifying {
  readonly context: ReadContext;
  readonly survey: Survey;
  readonly reader: ForwardReader;
  readonly damage: DamageLog;
  /** Notes when the messages of the added runs came. */
  readonly activity: ActivityLog;
  /** Whether what is readable is taken and the rest is noted. Otherwise what cannot be read throws. */
  readonly isSalvage: boolean;
  /** Where the data of schemas stand in the file outside of compressed chunks. */
  readonly schemaPlaces: Map<Schema, readonly [offset: number, lengthBytes: number]>;
  /** Takes the next run in the order of the file. */
  add(run: VerifiedRun): Promise<void> | undefined;
  /** Where a record ends by its own length that covers others, if another stands there; else beyond every file. */
  coveredEnd: number;
  /** CRC-32 of everything before a byte that was just looked at. */
  checksumUpTo(offset: number): Promise<number>;
}
