/**
 * What an imported file waits for before it may be deleted on its device because it was imported.
 *
 * - a number: so many seconds after its import
 * - `backup`: the backup after its import
 * - `backupIfAny`: the same once this deployment has a backup, and nothing before
 */
export type DeleteSafety = number | "backup" | "backupIfAny";
