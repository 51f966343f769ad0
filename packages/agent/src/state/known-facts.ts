export interface KnownRetention {
  /** 0 keeps for ever. */
  readonly seconds: number;
  /** Server time; nothing is deleted for its age before. */
  readonly heldUntilNs: bigint;
}

/** As it is kept: JSON, so that a name may hold anything. */
export interface KnownPause {
  readonly by: string;
  readonly since: string;
  /** For how long, and until when by the wall clock; absent: until somebody ends it. */
  readonly forMs?: number;
  readonly until?: string;
  /** The end by the uptime of the machine since one of its starts. */
  readonly bootId?: string;
  readonly endsAtUptimeMs?: number;
}

export interface KnownServerTime {
  readonly bootId: string;
  readonly serverTimeNs: bigint;
  readonly atMs: number;
}

/** A file during whose examination the process died, or the machine went off. */
export interface Suspect {
  readonly deaths: number;
  readonly cuts: number;
  /** Of the last: wall time, and the machine's uptime with the start that it counts from. */
  readonly atNs: string;
  readonly uptimeMs: number;
  readonly bootId?: string | undefined;
}

export interface Suspects {
  /** The note that was counted last: none counts twice. */
  readonly lastNoteId?: string;
  readonly byKey: Readonly<Record<string, Suspect>>;
}
