/** A backup or a restore cannot continue. The message says what an operator can do about it. */
export class BackupError extends Error {
  override readonly name: string = "BackupError";
}

/** Only one backup of a deployment is made at a time. */
export class BackupRunningError extends BackupError {
  override readonly name = "BackupRunningError";

  constructor() {
    super("another backup of this deployment is being made");
  }
}

/** The bytes of a backup differ from those that were written. */
export class DamagedBackupError extends BackupError {
  override readonly name = "DamagedBackupError";

  /** The damaged part, and how it is damaged. */
  readonly what: string;

  constructor(what: string) {
    super(`this backup is damaged: ${what}`);
    this.what = what;
  }
}
