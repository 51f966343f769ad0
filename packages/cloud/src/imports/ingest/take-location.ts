import { contextOf } from "../../background/jobs/transaction-context.ts";
import { lossCodes } from "../../buckets/bucket-objects/lose-object.ts";
import type { ImportRequestModel, RecordingModel } from "../../db/generated/models.ts";
import { withTransaction } from "../../db/transaction.ts";
import type { Finish } from "./file-recording.ts";
import type { IngestDeps } from "./ingest-deps.ts";
import { becomeItsData } from "./replace-lost.ts";
import type { NamedTarget } from "./resolve-target.ts";

const MOST_COPIES = 10;

/**
 * An object of a customer's bucket that was moved, or was written again, is the recording that it was before: if the same content of the
 * same owner has no object any more, the import becomes its data. Returns the request as it is then; undefined if there is none.
 */
export async function takeLocation(
  deps: IngestDeps,
  { request, contentSha256 }: Pick<Finish, "request" | "contentSha256">,
  named: NamedTarget,
): Promise<ImportRequestModel | undefined> {
  if (request.source !== "bucket" || request.recordingId !== null || named.newDeviceName !== undefined)
    return undefined;
  const { orgId } = request;
  const { projectId, device, key } = named;
  const copies = await deps.db.prisma.recording.findMany({
    where: {
      ...{ orgId, projectId, deviceId: device?.id ?? null, contentSha256, location: { not: null } },
      OR: [{ importStatus: "complete" }, { importStatus: "failed", failureCode: { in: [...lossCodes] } }],
      ...(key !== undefined && { AND: [{ OR: [{ key }, { key: null }] }] }),
    },
    orderBy: [{ createdAtNs: "asc" }, { id: "asc" }],
    take: MOST_COPIES,
  });
  for (const copy of sortCopies(copies, request.filename))
    if (await isWithoutObject(deps, copy))
      return withTransaction(deps.db, (tx) =>
        becomeItsData(contextOf(tx, deps), request, { recordingId: copy.id, blobKey: copy.blobKey! }),
      );
  return undefined;
}

/** The recording that had the very name comes first. */
function sortCopies(copies: readonly RecordingModel[], name: string): RecordingModel[] {
  const had = (copy: RecordingModel) => copy.path === name;
  return [...copies.filter(had), ...copies.filter((copy) => !had(copy))].filter(({ blobKey }) => blobKey !== null);
}

/** If the bucket cannot be read, the import is tried again later. */
async function isWithoutObject({ blobs }: IngestDeps, { importStatus, blobKey }: RecordingModel): Promise<boolean> {
  return importStatus === "failed" || (await blobs.stat(blobKey!)) === undefined;
}
