import { z } from "zod";

/**
 * The rule under which a file is deleted on the device. `imported`: autoDeleteAfterImport · `retention`: it ended longer ago than
 * retainRecordingsSeconds, and was reported for as long · `space`: an imported file, as the disk's quota asks · `prune`: a file that may
 * never have been imported, as the quota asks and the operator allows.
 */
export const DeletionReason = z.enum(["imported", "retention", "space", "prune"]);
export type DeletionReason = z.infer<typeof DeletionReason>;
