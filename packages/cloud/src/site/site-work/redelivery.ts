import type { SiteCtx } from "../../calls/context/context.ts";
import type { ImportRequestModel } from "../../db/generated/models.ts";
import { IngestError } from "../../imports/ingest/ingest-failure.ts";
import { quarantineImport, redeliver } from "../../imports/ingest/ingest-outcomes.ts";

/**
 * Says whether the bytes at the site are other ones than the agent announced. Then the agent is asked for the file again, or the import ends
 * if that happened too often.
 */
export async function isRedelivered(ctx: SiteCtx, request: ImportRequestModel, sha256: string): Promise<boolean> {
  const { announcedSha256 } = request;
  if (announcedSha256 === null || announcedSha256 === sha256) return false;
  try {
    await redeliver(ctx, request);
  } catch (error) {
    if (!(error instanceof IngestError)) throw error;
    await quarantineImport(ctx, request, error);
  }
  return true;
}
