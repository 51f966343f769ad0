export interface KnownRetention {
  /** With 0, recordings are kept for ever. */
  readonly seconds: number;
  /** Until this server time nothing is deleted for its age. */
  readonly heldUntilNs: bigint;
}

/** A pause as it is kept: as JSON, because a name may hold anything. */
export interface KnownPause {
  readonly by: string;
  readonly since: string;
  /** How long the pause lasts, and until when by the wall clock; absent where somebody has to end it. */
  readonly forMs?: number;
  readonly until?: string;
  /** The end by the uptime of the machine, and the start from which the uptime counts. */
  readonly bootId?: string;
  readonly endsAtUptimeMs?: number;
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
