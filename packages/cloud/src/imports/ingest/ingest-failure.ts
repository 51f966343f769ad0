// A job never fails because of the contents of a file: permanent errors end the request with a reason; anything else is tried again with a
// growing delay that is kept in the row, so that `attempts` and `nextAttemptAt` can be shown.

import { SalvageRefusedError, ThreadFailedError, TooHeavyError } from "../../background/indexing/indexing-errors.ts";
import { sqlState } from "../../db/sql-state.ts";
import { BlobNotFoundError } from "../../store/blobs/blob-errors.ts";

/** The file can never be imported as it is; `message` tells a person what to do. Any other error is tried again. */
export class IngestError extends Error {
  readonly code: string;
  /** The imported recording that has the same content. */
  readonly duplicateOfId: string | undefined;

  constructor(code: string, message: string, duplicateOfId?: string) {
    super(message);
    this.name = "IngestError";
    this.code = code;
    this.duplicateOfId = duplicateOfId;
  }
}

/** This takes about half an hour: a temporary failure is over before. */
const LAST_ATTEMPT = 12;
/** Data exceptions, and program limits such as the size of an index entry: the same rows would be refused again. */
const REFUSED_ROWS = /^(22|54)/;

/**
 * Returns the permanent failure that an error means, or undefined if a later attempt may succeed. `TooHeavy` is permanent at once, because
 * the same file costs the same again; failures that our code or the machine may cause (`IndexingFailed`, `ObjectMissing`) are so only after
 * twelve attempts. All failed files are quarantined and can be retried.
 */
export function toIngestError(error: unknown, attempt: number): IngestError | undefined {
  if (error instanceof IngestError) return error;
  if (error instanceof SalvageRefusedError) return new IngestError(error.code, error.message);
  if (error instanceof TooHeavyError) return new IngestError("TooHeavy", error.message);
  if (REFUSED_ROWS.test(sqlState(error) ?? ""))
    return new IngestError("CannotBeStored", "the file holds a name or number that the database cannot store");
  if (attempt < LAST_ATTEMPT) return undefined;
  if (error instanceof ThreadFailedError)
    return new IngestError("IndexingFailed", "reading the file failed each time; the server's log says how");
  if (error instanceof BlobNotFoundError)
    return new IngestError("ObjectMissing", "the stored file is gone; send it again, or restore the store");
  return undefined;
}
