import type { StorageProvider } from "@downlink/protocol";
import type { OwnerHints } from "../bucket-objects/note-object.ts";

/** A message about one object, sent by its bucket or on the bucket's behalf. */
export interface ObjectNotification {
  /** The sender's id of this message: a repeat has the same one. */
  readonly messageId: string;
  /** The kinds of provider whose buckets send this. */
  readonly providers: readonly StorageProvider[];
  readonly bucketName: string;
  readonly azureStorageAccountName?: string | undefined;
  /** The object's whole name, decoded. */
  readonly fileName: string;
  readonly hints?: OwnerHints;
}
