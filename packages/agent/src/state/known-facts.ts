import type { DiskAmount } from "../settings/disk-amount.ts";
import type { WaitEnd } from "../system/wait-end.ts";

export interface KnownRetention {
  /** With 0, recordings are kept for ever. */
  readonly seconds: number;
  /** Until this server time nothing is deleted for its age. */
  readonly heldUntilNs: bigint;
}

/** A pause as it is kept: as JSON, because a name may hold anything. Its end is absent where `agent resume` has to end it. */
export interface KnownPause extends Partial<WaitEnd> {
  readonly by: string;
  readonly since: string;
}

/** The disk limits under which files may be deleted, and those that wait first. */
export interface KnownLimits {
  readonly inForce: DiskLimits;
  readonly waiting?: WaitEnd & { readonly limits: DiskLimits };
}

/** Nothing is set where there is no limit. */
interface DiskLimits {
  readonly maxDisk?: DiskAmount | undefined;
  readonly minFree?: DiskAmount | undefined;
  readonly prunesUnimported?: boolean;
}

export interface KnownServerTime {
  readonly bootId: string;
  readonly serverTimeNs: bigint;
  readonly atMs: number;
}

/** A file during whose examination the process died or the machine lost power. */
export interface Suspect {
  readonly deaths: number;
  readonly cuts: number;
  /** When the last of these happened: by the wall clock, and by the uptime with the start from which it counts. */
  readonly atNs: string;
  readonly uptimeMs: number;
  readonly bootId?: string | undefined;
}

export interface Suspects {
  /** The note that was counted last, so that none counts twice. */
  readonly lastNoteId?: string;
  readonly byKey: Readonly<Record<string, Suspect>>;
}
