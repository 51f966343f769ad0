/**
 * The condition for deleting a file on its device because it was imported.
 *
 * - a number: so many seconds have passed since its import
 * - `backup`: a backup was made after its import
 * - `backupIfAny`: the same once this deployment has a backup, and no condition before
 */
export type DeleteSafety = number | "backup" | "backupIfAny";
