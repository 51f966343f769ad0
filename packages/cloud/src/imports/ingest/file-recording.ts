import type { RecordingSummary } from "@downlink/recordings";
import type { JobQueue } from "../../background/jobs/queue.ts";
import { findLocation } from "../../buckets/bucket-objects/object-location.ts";
import type { Prisma } from "../../db/generated/client.ts";
import type { ImportRequestModel } from "../../db/generated/models.ts";
import { idFrom } from "../../db/ids.ts";
import type { Transaction } from "../../db/transaction.ts";
import { endCutsOf } from "../../fleet/agents/cuts.ts";
import { nextImportStatus, noDamage, noFailure } from "../../import-life/import-status.ts";
import { lockRecording } from "../../import-life/lock-recording.ts";
import { publishRecording } from "../../import-life/recording-events.ts";
import { IngestError } from "./ingest-failure.ts";
import type { Target } from "./resolve-target.ts";
import { restoreCut } from "./restore-cut.ts";
import { storeContents } from "./store-contents.ts";
import { damageOf, recordingFacts } from "./summary-rows.ts";

export interface Finish {
  readonly request: ImportRequestModel;
  readonly summary: RecordingSummary & { startNs: bigint; endNs: bigint };
  /** The hash of the stored bytes, computed by the cloud. */
  readonly contentSha256: string;
  /** When the cloud began to read them; absent where a self-hosted site did. */
  readonly readAtNs?: bigint;
  /** The store knows what becomes of the object: only then it may become a recording. */
  readonly hasManifest: boolean;
  readonly jobs: JobQueue;
  readonly nowNs: bigint;
}

/** Makes the file an imported recording, with its topics, attachments and import, and publishes it. Returns its id. */
export async function fileRecording(tx: Transaction, finish: Finish, target: Target): Promise<string> {
  const { request, summary, nowNs } = finish;
  const { projectId, device } = target;
  const facts = recordingFacts(summary);
  const importId = request.importId ?? idFrom("imp", request.id);
  const imported: Imported = {
    ...facts,
    projectId,
    deviceId: device?.id ?? null,
    key: target.key ?? null,
    sessionId: target.sessionId ?? null,
    siteId: request.siteId,
    importStatus: "complete",
    importId,
    importedAtNs: nowNs,
    contentSha256: finish.contentSha256,
    verifiedAtNs: finish.readAtNs ?? null,
    isUnverified: false,
    blobKey: request.blobKey,
    siteObjectKey: request.siteObjectKey,
    location: await findLocation(tx, request.blobKey),
    indexKey: request.indexKey,
    damage: damageOf(summary),
    ...noFailure,
    ...noDamage,
  };
  const { id: recordingId, path } = request.recordingId
    ? await updateRecording(tx, finish, { ...imported, id: request.recordingId })
    : await createRecording(tx, finish, imported);
  const owner = { recordingId, orgId: request.orgId, projectId, deviceId: device?.id ?? null, siteId: request.siteId };
  await storeContents(tx, { owner, summary });
  if (request.isAdopted)
    await restoreCut(tx, { recording: { ...owner, id: recordingId }, metadata: summary.metadata, nowNs });
  const { sizeBytes, startNs, endNs, format } = facts;
  const file = { filename: path, sizeBytes, startNs, endNs, format };
  // The import stays after the recording's data is deleted, and shows it as it was. spec: Imports
  const row = { ...owner, deviceName: device?.name, ...file, importedAtNs: nowNs };
  await tx.import.upsert({ where: { id: importId }, create: { id: importId, ...row }, update: row });
  await tx.project.update({ where: { id: projectId }, data: { lastSeenAtNs: nowNs } });
  await endCutsOf({ tx, jobs: finish.jobs, nowNs }, recordingId);
  await publishRecording(tx, recordingId, { type: "recording.imported", occurredAtNs: nowNs });
  return recordingId;
}

type Imported = Omit<Prisma.RecordingUncheckedCreateInput, "id" | "orgId" | "path" | "createdAtNs" | "isEdge">;

interface Filed {
  readonly id: string;
  readonly path: string;
}

/** A recording whose data was lost or damaged keeps everything but that data, so the bytes have to be those that were imported. */
async function updateRecording(
  tx: Transaction,
  { request, jobs, contentSha256 }: Finish,
  { id, ...imported }: Imported & { readonly id: string },
): Promise<Filed> {
  const recording = await lockRecording(tx, id);
  if (recording.storedDamage !== null && recording.contentSha256 !== contentSha256)
    throw new IngestError(
      "ContentMismatch",
      `the file has SHA-256 ${contentSha256}, and the data of recording ${id}, which is damaged, had ${recording.contentSha256}`,
    );
  const next = nextImportStatus(recording.importStatus, "imported", recording.edgeFile !== null);
  if (next !== "complete") throw new IngestError("RequestSuperseded", `recording ${id} is ${recording.importStatus}`);
  await tx.recording.update({ where: { id }, data: { ...imported, nextIndexKey: null } });
  const { blobKey, indexKey, nextIndexKey } = recording;
  for (const former of [blobKey, indexKey, nextIndexKey])
    if (former !== null && former !== request.blobKey)
      await jobs.enqueue(tx, { name: "remove-object", data: { blobKey: former } });
  return recording;
}

async function createRecording(tx: Transaction, { request, nowNs }: Finish, imported: Imported): Promise<Filed> {
  const own = {
    id: idFrom("rec", request.id),
    orgId: request.orgId,
    path: request.filename,
    createdAtNs: nowNs,
    isEdge: false,
  };
  await tx.recording.create({ data: { ...imported, ...own } });
  await publishRecording(tx, own.id, { type: "recording.created", occurredAtNs: nowNs });
  return own;
}
