import type { ImportRequestModel, UploadModel } from "../../db/generated/models.ts";
import { type Transaction, withTransaction } from "../../db/transaction.ts";
import { abandonUploads } from "../../import-life/change-request.ts";
import { LIVE_NS, LOOK_AGAIN_SECONDS } from "./attempt.ts";
import type { IngestDeps } from "./ingest-deps.ts";
import { IngestError } from "./ingest-failure.ts";
import { quarantineImport } from "./ingest-outcomes.ts";
import { explainNotSalvageable, isUnderWay } from "./salvageable-state.ts";
import { openStream } from "./stream-uploads.ts";

/** One attempt at a salvage. */
export interface TakenSalvage {
  readonly request: ImportRequestModel;
  /** The request whose file is salvaged. */
  readonly source: ImportRequestModel & { readonly blobKey: string };
  /** The upload that takes the bytes of this attempt. */
  readonly upload: UploadModel;
}

type Found = ImportRequestModel & { salvageOf: ImportRequestModel | null; uploads: UploadModel[] };

/**
 * Gives the attempt a number and opens the upload that it writes to; the upload of a dead attempt is abandoned. The job is delayed while
 * another attempt is alive, or while the file to salvage is being imported again. Returns undefined if there is nothing to do now.
 */
export async function takeSalvage(deps: IngestDeps, id: string): Promise<TakenSalvage | undefined> {
  const taken = await withTransaction(deps.db, async (tx) => {
    await tx.$queryRaw`SELECT id FROM "ImportRequest" WHERE id = ${id} FOR UPDATE`;
    const include = { salvageOf: true, uploads: { where: { state: "open" } } } as const;
    const found = await tx.importRequest.findUnique({ where: { id }, include });
    if (found?.salvageOf?.siteObjectKey) return undefined; // its site salvages it
    return found?.state === "awaiting" ? begin(tx, deps, found) : undefined;
  });
  if (!taken || "upload" in taken) return taken;
  await quarantineImport(deps, taken.request, new IngestError("NotSalvageable", taken.obstacle));
  return undefined;
}

interface Refused {
  readonly request: ImportRequestModel;
  readonly obstacle: string;
}

async function begin(tx: Transaction, deps: IngestDeps, found: Found): Promise<TakenSalvage | Refused | undefined> {
  const { id, orgId, salvageOf: source, uploads } = found;
  const nowNs = deps.clock.nowNs();
  const isAtWork = uploads.some(({ updatedAtNs }) => updatedAtNs > nowNs - LIVE_NS);
  if (isAtWork || (source && isUnderWay(source.state))) return lookAgain(tx, deps, { id, orgId, nowNs });
  await abandonUploads({ tx, nowNs }, [id]);
  const data = { attempts: found.attempts + 1, pipelineStage: STAGE, nextAttemptAtNs: null, updatedAtNs: nowNs };
  const request = await tx.importRequest.update({ where: { id }, data });
  const obstacle = source ? explainNotSalvageable(source) : "the import request whose file it is made of is gone";
  if (obstacle !== undefined) return { request, obstacle };
  return {
    request,
    source: source as TakenSalvage["source"],
    upload: await openStream(tx, { id, orgId, sizeBytes: source!.sizeBytes }, nowNs),
  };
}

const STAGE = "Salvaging what is readable";

async function lookAgain(
  tx: Transaction,
  { jobs }: IngestDeps,
  { id, orgId, nowNs }: { id: string; orgId: string; nowNs: bigint },
): Promise<undefined> {
  const delaySeconds = LOOK_AGAIN_SECONDS;
  const nextAttemptAtNs = nowNs + BigInt(delaySeconds) * 1_000_000_000n;
  await tx.importRequest.update({ where: { id }, data: { nextAttemptAtNs, updatedAtNs: nowNs } });
  await jobs.enqueue(tx, { name: "salvage", data: { orgId, requestId: id }, delaySeconds });
}
