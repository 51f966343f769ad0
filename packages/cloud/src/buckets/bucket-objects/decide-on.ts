import { isStorable } from "@downlink/protocol";
import { ingestJob } from "../../background/jobs/ingest-job.ts";
import type { TransactionContext } from "../../background/jobs/transaction-context.ts";
import { hasRoomForObject } from "../../calls/quotas/require-room.ts";
import type { BucketObjectModel, ImportRequestModel } from "../../db/generated/models.ts";
import { newId } from "../../db/ids.ts";
import type { FoundObject } from "../../store/blobs/buckets/customer-bucket.ts";
import type { OwnerHints } from "./note-object.ts";
import { keyOfObject } from "./object-location.ts";
import type { SiteWithPolicy } from "./site-with-policy.ts";

export interface Seen {
  readonly object: BucketObjectModel;
  readonly found: FoundObject;
}

/**
 * Ignores an object, or requests its import: from then on it is an import like any other. Where the organization has as many recordings as it
 * may, the object stays noted until a listing finds that there is room.
 */
export async function decideOn(context: TransactionContext, site: SiteWithPolicy, seen: Seen): Promise<void> {
  const { tx } = context;
  const { object } = seen;
  const { policyRevision } = site;
  const judgement = site.judge(object.name);
  const isIgnored = judgement.type === "ignore" || isFolder(seen);
  if (!isIgnored && !(await hasRoomForObject(tx, object.orgId))) return;
  const requestId = isIgnored ? null : await requestImport(context, seen, { site, deviceName: judgement.deviceName });
  const state = isIgnored ? "ignored" : "requested";
  await tx.bucketObject.update({ where: { id: object.id }, data: { state, policyRevision, requestId } });
}

/** Tools that show a bucket as folders put empty objects with such names; Azure lists folders of its own, with this metadata. */
function isFolder({ object, found }: Seen): boolean {
  return found.sizeBytes === 0n && (object.name.endsWith("/") || found.metadata.hdi_isfolder === "true");
}

interface Wanted {
  readonly site: SiteWithPolicy;
  /** The device that the policy names. */
  readonly deviceName: string | undefined;
}

async function requestImport(
  { tx, jobs, nowNs }: TransactionContext,
  { object, found }: Seen,
  { site, deviceName }: Wanted,
): Promise<string> {
  const { orgId, siteId, name: filename } = object;
  const { sizeBytes, metadata } = found;
  const id = newId("req");
  const owner = ownerOf({ deviceName, hints: hintsOf(object), metadata });
  await tx.importRequest.create({
    data: {
      ...{ id, orgId, siteId, filename, sizeBytes },
      ...owner,
      projectId: await findServed(tx, site, owner.claimedProjectId),
      source: "bucket",
      state: "received",
      pipelineStage: "Waiting to be processed",
      blobKey: keyOfObject(object),
      isAcknowledged: true,
      createdAtNs: nowNs,
      updatedAtNs: nowNs,
    },
  });
  await jobs.enqueue(tx, { name: ingestJob(sizeBytes), data: { orgId, requestId: id } });
  return id;
}

/**
 * Returns the project that is named, if the site is for it. A caller that may see only another project sees nothing of the import, whatever
 * the object says; the import ends with an error that says so.
 */
async function findServed(tx: TransactionContext["tx"], { orgId, projectIds }: SiteWithPolicy, id: string | null) {
  if (id === null || (projectIds.length > 0 && !projectIds.includes(id))) return null;
  return (await tx.project.findFirst({ where: { id, orgId }, select: { id: true } }))?.id ?? null;
}

function hintsOf({ deviceId, deviceName, projectId }: BucketObjectModel) {
  return {
    deviceId: deviceId ?? undefined,
    deviceName: deviceName ?? undefined,
    projectId: projectId ?? undefined,
  };
}

/** The facts about an object's owner that are known before its file is read. */
interface Known {
  /** The device that the path policy names. */
  readonly deviceName: string | undefined;
  readonly hints: OwnerHints;
  /** The metadata that the writer gave the object; the names are in lower case. */
  readonly metadata: Readonly<Record<string, string>>;
}

type Owner = Pick<ImportRequestModel, "deviceId" | "deviceName" | "claimedProjectId" | "key" | "sessionKey">;

/**
 * The path policy overrides a notification, and that overrides the object's metadata: the first of them that names a device names it alone.
 * The file itself may state a fact that none of them states.
 */
function ownerOf({ deviceName, hints, metadata }: Known): Owner {
  const readMetadata = (name: string) => {
    const text = metadata[name.toLowerCase()];
    return text !== undefined && text !== "" && isStorable(text) ? text : undefined;
  };
  const sources = [
    { deviceName },
    hints,
    { deviceId: readMetadata("deviceId"), deviceName: readMetadata("deviceName") },
  ];
  const device: OwnerHints = sources.find((source: OwnerHints) => source.deviceId ?? source.deviceName) ?? {};
  return {
    deviceId: device.deviceId ?? null,
    deviceName: device.deviceId === undefined ? (device.deviceName ?? null) : null,
    claimedProjectId: hints.projectId ?? readMetadata("projectId") ?? null,
    key: readMetadata("key") ?? null,
    sessionKey: readMetadata("sessionKey") ?? null,
  };
}
