import { CommandError } from "./core/command-error.ts";
import { ConfigError } from "./core/config-error.ts";
import { EmbeddedPostgresError } from "./db/embedded/embedded-postgres-error.ts";
import { MigrationError } from "./db/migrations.ts";
import { isDatabaseAway } from "./db/sql-state.ts";
import { BackupError } from "./keeping/backup/backup-errors.ts";
import { NotSafeError } from "./recovery/held-deployment.ts";
import { WrongStoreError } from "./recovery/mark-round.ts";
import { CopyError } from "./restoring/copying/copy-errors.ts";

interface OperatorMessage {
  readonly message: string;
  readonly exitCode: number;
}

const operatorErrors = [
  BackupError,
  CopyError,
  EmbeddedPostgresError,
  MigrationError,
  NotSafeError,
  CommandError,
  WrongStoreError,
];

/** `database` is the name of the database in sentences. Returns a sentence if the operator can do something about the error; undefined for unexpected errors, which need their stack. */
export function operatorMessage(error: unknown, database: string): OperatorMessage | undefined {
  const { code, message } = error as NodeJS.ErrnoException;
  if (error instanceof ConfigError) return { message, exitCode: 2 };
  if (operatorErrors.some((kind) => error instanceof kind)) return { message, exitCode: 1 };
  if (isDatabaseAway(error)) return { message: `${database} does not answer: ${message || code}`, exitCode: 1 };
  return undefined;
}
