// A manifest is written once, and the first one stays: if a row was changed between two attempts (a device was renamed, a dead attempt had
// another index), the manifest stays the same. The facts that all attempts have in common identify it: ids are in the request's row or
// derived from its id, and the bytes have one hash.

import { newIndexKey } from "../../background/indexing/index-key.ts";
import type { Database } from "../../db/client.ts";
import type { Prisma } from "../../db/generated/client.ts";
import type { ImportRequestModel } from "../../db/generated/models.ts";
import { idFrom } from "../../db/ids.ts";
import type { BlobStore } from "../../store/blobs/blob-store.ts";
import { NoteExistsError } from "../../store/blobs/notes.ts";
import {
  type Begun,
  type DescribedRequest,
  type Imported,
  type Manifest,
  manifestKey,
  parseManifest,
  writeText,
} from "./manifest.ts";

export interface ManifestDeps {
  readonly db: Pick<Database, "prisma">;
  readonly blobs: Pick<BlobStore, "putNote" | "getNote">;
}

const withRequest = {
  request: { include: { recording: { select: { edgeSiteId: true, sessionId: true, createdAtNs: true } } } },
} as const satisfies Prisma.UploadInclude;
type DescribedUpload = Prisma.UploadGetPayload<{ include: typeof withRequest }>;

/** Writes durably what an upload is, before its first byte. A repeat is harmless. */
export async function writeBegun({ db, blobs }: ManifestDeps, uploadId: string): Promise<void> {
  const upload = await db.prisma.upload.findUniqueOrThrow({ where: { id: uploadId }, include: withRequest });
  await putManifest(blobs, { ...describe(upload), kind: "begun" });
}

/** The results of an import, and what it resolved of the file's own statements. */
export type Findings = Pick<
  Imported,
  "sha256" | "sizeBytes" | "format" | "startNs" | "endNs" | "messageCount" | "indexKey" | "importedAtNs"
> & {
  readonly named: Pick<Imported, "projectId" | "deviceId" | "deviceName" | "key">;
  /** Used if neither the request nor the recording has a session. */
  readonly sessionKey: string | undefined;
};

/** Writes durably what an object is, before its rows say so. A repeat is harmless; returns false if other bytes were found before. */
export async function writeImported(deps: ManifestDeps, blobKey: string, findings: Findings): Promise<boolean> {
  const upload = await deps.db.prisma.upload.findUniqueOrThrow({ where: { blobKey }, include: withRequest });
  const { named, sessionKey, ...facts } = findings;
  const { recording, mismatches } = upload.request;
  const begun = describe(upload);
  const sessionId = begun.sessionId ?? (begun.sessionKey === undefined ? dropNull(recording?.sessionId) : undefined);
  await putManifest(deps.blobs, {
    ...{ ...begun, ...facts, ...named },
    kind: "import",
    sessionId,
    sessionKey: begun.sessionKey ?? (sessionId === undefined ? sessionKey : undefined),
    redeliveries: mismatches,
    reportedAtNs: recording?.createdAtNs,
  });
  const written = await deps.blobs.getNote(manifestKey(blobKey, "import"));
  return written !== undefined && parseManifest(blobKey, "import", written).sha256 === facts.sha256;
}

/**
 * Writes from its rows what the manifest of an imported object says; a repeat is harmless. Returns false if no recording with these ids holds
 * such an object now, or its row lacks a fact.
 */
export async function writeFromRow(
  deps: ManifestDeps,
  { id, blobKey }: { id: string; blobKey: string },
): Promise<boolean> {
  const row = await deps.db.prisma.recording.findUnique({ where: { id, blobKey }, include: { device: true } });
  if (row?.importStatus !== "complete") return false;
  const { contentSha256: sha256, importedAtNs, device, ...facts } = row;
  if (sha256 === null || importedAtNs === null) return false;
  const indexKey = row.indexKey ?? newIndexKey(row.orgId); // nothing stands there, so that a restore makes an index
  const { sizeBytes, format, startNs, endNs, messageCount, projectId, key } = facts;
  return await writeImported(deps, blobKey, {
    ...{ sha256, sizeBytes, format, startNs, endNs, messageCount, indexKey, importedAtNs },
    named: { projectId, deviceId: device?.id, deviceName: device?.name, key: dropNull(key) },
    sessionKey: undefined,
  });
}

async function putManifest(blobs: ManifestDeps["blobs"], manifest: Manifest): Promise<void> {
  const { orgId, uploadId, kind } = manifest;
  try {
    await blobs.putNote(manifestKey(`${orgId}/${uploadId}`, kind), writeText(manifest));
  } catch (error) {
    if (!(error instanceof NoteExistsError)) throw error;
  }
}

function describe({ request, ...upload }: DescribedUpload): Omit<Begun, "kind"> {
  return {
    ...describeRequest(request),
    uploadId: upload.id,
    uploadKind: upload.kind,
    sizeBytes: dropNull(upload.sizeBytes),
    partSizeBytes: dropNull(upload.partSizeBytes),
    edge: edgeOf({ request, ...upload }),
    begunAtNs: upload.createdAtNs,
  };
}

/** Returns what is known of a file before it is sent anywhere. */
export function describeRequest(request: ImportRequestModel): DescribedRequest {
  return {
    version: 1,
    orgId: request.orgId,
    requestId: request.id,
    source: request.source,
    salvageOfId: dropNull(request.salvageOfId),
    priority: request.priority,
    projectId: dropNull(request.projectId),
    siteId: request.siteId,
    deviceId: dropNull(request.deviceId),
    deviceName: dropNull(request.deviceName),
    filename: request.filename,
    key: dropNull(request.key),
    sessionId: dropNull(request.sessionId),
    sessionKey: dropNull(request.sessionKey),
    recordingId: request.recordingId ?? idFrom("rec", request.id),
    importId: request.importId ?? idFrom("imp", request.id),
    requestedAtNs: request.createdAtNs,
  };
}

function edgeOf({ request, versionId, modifiedAtNs }: DescribedUpload): Begun["edge"] {
  if (request.agentId === null || versionId === null || modifiedAtNs === null) return undefined;
  return { agentId: request.agentId, siteId: dropNull(request.recording?.edgeSiteId), versionId, modifiedAtNs };
}

function dropNull<T>(value: T | null | undefined): T | undefined {
  return value ?? undefined;
}
