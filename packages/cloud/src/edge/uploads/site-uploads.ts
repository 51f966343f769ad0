// A file whose import goes to a self-hosted site is sent there by its agent, and the control plane never has a byte of it: it opens the
// upload, and gives the agent a capability for the site (`store/site-keys/upload-capability.ts`). The site reports when it has the file
// (`site/site-work/report.ts`). A request keeps its site, whatever the project's becomes.

import { type api, edgeLimits, type Input, type Output } from "@downlink/protocol";
import type { AgentCtx } from "../../calls/context/context.ts";
import type { Complete } from "../../core/complete.ts";
import { ApiError } from "../../core/errors.ts";
import type { ImportRequestModel, SiteUploadModel } from "../../db/generated/models.ts";
import { newId } from "../../db/ids.ts";
import type { Transaction } from "../../db/transaction.ts";
import { partSizeFor } from "../../import-life/part-plans.ts";
import { findReceivingSite } from "../../store/site-keys/find-serving-site.ts";
import { CAPABILITY_LIFE_NS, makeCapability } from "../../store/site-keys/upload-capability.ts";

type OpenInput = Input<typeof api.edge.openUpload>;
type Opened = Complete<Output<typeof api.edge.openUpload>>;

interface Opening {
  readonly ctx: Pick<AgentCtx, "clock">;
  readonly request: ImportRequestModel & { readonly versionId: string };
  readonly input: OpenInput;
  readonly nowNs: bigint;
}

const WAITING = "Waiting for the device";
const OUTDATED = "Waiting for the device, whose agent cannot send to a self-hosted site: update it";
const OUTDATED_RETRY_SECONDS = 300;

/** Says whether a self-hosted site takes the file of a request. */
export async function goesToSite(tx: Transaction, { siteId }: ImportRequestModel): Promise<boolean> {
  const site = await tx.site.findUnique({ where: { id: siteId }, select: { type: true } });
  return site?.type === "self-hosted";
}

/**
 * Opens an upload at a site, or finds the one that is open already. An agent that is too old for that gets an error, which the caller
 * throws once the row says what the request waits for. Throws `SiteUnavailable` while the site was never set up.
 */
export async function openSiteUpload(tx: Transaction, opening: Opening): Promise<Opened | ApiError> {
  const { ctx, request, input, nowNs } = opening;
  if (!input.takesSites) {
    await showStage(tx, request, OUTDATED);
    const text = "this import goes to a self-hosted site, and this version of the agent cannot send there: update it";
    return new ApiError("SiteUnavailable", text, { status: 409, retryAfterSeconds: OUTDATED_RETRY_SECONDS });
  }
  if (request.state !== "awaiting") return describeStored(request);
  const site = await findReceivingSite({ tx, clock: ctx.clock }, request.siteId);
  await showStage(tx, request, WAITING);
  const expiresAtNs = nowNs + CAPABILITY_LIFE_NS;
  const upload = await holdUpload(tx, opening, expiresAtNs);
  const capability = makeCapability(site, upload, expiresAtNs);
  const { id, name } = site;
  return {
    ...nothingHere,
    uploadId: upload.id,
    partSize: Number(upload.partSizeBytes),
    isStored: false,
    site: { id, name, address: site.publicUrl(), capability, expiresAt: expiresAtNs },
  };
}

/** The agent asks the site itself for these values. */
const nothingHere = { digest: undefined, wantsSha256: undefined, parts: [], pieces: undefined };

/** The site has reported the file: nothing more is to be sent. */
function describeStored({ id, siteObjectKey }: ImportRequestModel): Opened {
  const uploadId = siteObjectKey?.split("/")[1] ?? id;
  return { ...nothingHere, uploadId, partSize: edgeLimits.minPartBytes, isStored: true, site: undefined };
}

/** A row that says so already stays as it is, because each change of it wakes the agent. */
async function showStage(tx: Transaction, { id, pipelineStage }: ImportRequestModel, stage: string): Promise<void> {
  if (pipelineStage !== stage) await tx.importRequest.update({ where: { id }, data: { pipelineStage: stage } });
}

/** The same version goes on with its upload, and another one is never mixed in. */
async function holdUpload(tx: Transaction, opening: Opening, capableUntilNs: bigint): Promise<SiteUploadModel> {
  const { request, input } = opening;
  const open = { requestId: request.id, isSuperseded: false };
  const same = { siteId: request.siteId, versionId: input.versionId, sizeBytes: BigInt(input.size) };
  const [upload] = await tx.siteUpload.updateManyAndReturn({ where: { ...open, ...same }, data: { capableUntilNs } });
  if (upload) return upload;
  await tx.siteUpload.updateMany({ where: open, data: { isSuperseded: true } });
  return createUpload(tx, opening, capableUntilNs);
}

function createUpload(tx: Transaction, { request, input, nowNs }: Opening, capableUntilNs: bigint) {
  const id = newId("upl");
  const { size, partSize } = input;
  const data = {
    ...{ id, siteId: request.siteId, requestId: request.id, versionId: input.versionId },
    key: `${request.orgId}/${id}`,
    sizeBytes: BigInt(size),
    modifiedAtNs: input.modifiedAt,
    partSizeBytes: BigInt(partSizeFor(size, partSize)),
    createdAtNs: nowNs,
    capableUntilNs,
  };
  return tx.siteUpload.create({ data });
}
