// Permits to delete on a device; `edge/deleting/judge-deletion.ts` has the rules. A permit needs the cloud's own hash and its current settings,
// never what the agent remembers. The edge copy counts as gone until the permit expires: an agent that died in between still has the file.
// Data deleted meanwhile takes its recording along; reported again, the file is a new one.

import { type api, edgeLimits, type Input, type Output, type PermitAnswer } from "@downlink/protocol";
import type { AgentCtx } from "../../calls/context/context.ts";
import type { Complete } from "../../core/complete.ts";
import type { AgentModel, RecordingModel } from "../../db/generated/models.ts";
import { newId } from "../../db/ids.ts";
import { toJson } from "../../db/insert-rows.ts";
import type { Transaction } from "../../db/transaction.ts";
import { findVersions } from "../../fleet/agents/find-versions.ts";
import { withLease } from "../../fleet/agents/lease.ts";
import { terminalStates } from "../../import-life/import-request-state.ts";
import { readOwner } from "../../process/polls/agent-owner.ts";
import { type HeldDeployment, holdDeployment } from "../../recovery/held-deployment.ts";
import { readSafetyRule } from "../../recovery/known-backups.ts";
import { settingsOf } from "../work/work.ts";
import { findSoundObjects } from "./find-sound-objects.ts";
import { type DeletionCase, judgeDeletion, type Refusal } from "./judge-deletion.ts";
import { askSites, readDistrust } from "./trusted-sites.ts";

type Permits = typeof api.edge.askPermits;
type Item = Input<Permits>["items"][number];

export const PERMIT_NS = BigInt(edgeLimits.permitSeconds) * 1_000_000_000n;

/**
 * Gives permits to delete files on the device. The recordings are locked before anything is checked, as in every import request and
 * deletion of data: the second of two transactions sees what the first did. Stored bytes that were not read for long, or since damage was
 * seen, are read by a job first (`imports/ingest/read-stored.ts`). spec: edge agent §4
 */
export async function askPermits(ctx: AgentCtx, { items }: Input<Permits>): Promise<Complete<Output<Permits>>> {
  const unique = [...new Map(items.map((item) => [item.versionId, item])).values()];
  const resting = unique.filter(restsOnImport).map(({ versionId }) => versionId);
  const soundObjects = new Set([...(await findSoundObjects(ctx, resting)), ...(await askSites(ctx, resting))]);
  return withLease(ctx, async (tx, agent) => {
    const nowNs = ctx.clock.nowNs();
    const cases = await readCases(tx, agent, unique);
    const deployment = await holdDeployment(tx);
    const suspension = suspensionOf(deployment, agent);
    const { deletionHeldUntilNs, damageSeenAtNs } = deployment;
    const safetyRule = await readSafetyRule(tx, ctx.deleteSafety);
    const distrust = await readDistrust(tx, sitesOf(cases.values()), { ...deployment, nowNs });
    const proofAgeNs = BigInt(ctx.deleteProofAgeSeconds) * 1_000_000_000n;
    const terms = { deletionHeldUntilNs, damageSeenAtNs, proofAgeNs, nowNs };
    const common = { suspension, soundObjects, distrust, safetyRule, ...terms };
    const judged = unique.map((item) => judge(item, cases.get(item.versionId), common));
    const toRead = judged.flatMap(({ toReadId }) => toReadId ?? []);
    if (toRead.length > 0) await ctx.jobs.enqueueReading(tx, agent.orgId, toRead);
    const answers = await grant(tx, judged, nowNs);
    return { serverTime: nowNs, answers };
  });
}

/** Returns the ids of the self-hosted sites that have the data. */
function sitesOf(cases: Iterable<KnownCase>): string[] {
  return Array.from(cases, ({ recording, original }) => original ?? recording).flatMap((holder) =>
    holder?.siteObjectKey && holder.siteId ? [holder.siteId] : [],
  );
}

function restsOnImport({ reason }: Item): boolean {
  return reason === "imported" || reason === "space";
}

/** The facts that all files of one call have in common. */
type Common = Pick<
  DeletionCase,
  "deletionHeldUntilNs" | "soundObjects" | "distrust" | "safetyRule" | "damageSeenAtNs" | "proofAgeNs" | "nowNs"
>;
type KnownCase = Omit<DeletionCase, "reason" | "sha256" | keyof Common> & {
  readonly fileId: string;
  readonly permitId: string | null;
};

/** Reads what is known of each file, with their recordings locked. */
async function readCases(tx: Transaction, agent: AgentModel, items: readonly Item[]): Promise<Map<string, KnownCase>> {
  const found = await findVersions(tx, { agentId: agent.id, versionIds: items.map(({ versionId }) => versionId) });
  const recordingIds = found.flatMap(({ recordingId }) => recordingId ?? []);
  const originalIds = await findOriginalIds(tx, recordingIds);
  const lockedIds = [...recordingIds, ...originalIds];
  await tx.$queryRaw`SELECT id FROM "Recording" WHERE id = ANY(${lockedIds}) ORDER BY id FOR UPDATE`;
  const files = await tx.edgeFile.findMany({
    where: { id: { in: found.map(({ id }) => id) } },
    include: { recording: true },
  });
  const open = await tx.importRequest.findMany({
    where: { recordingId: { in: recordingIds }, state: { notIn: [...terminalStates] } },
    select: { recordingId: true },
  });
  const requested = new Set(open.map(({ recordingId }) => recordingId));
  const settings = settingsOf(await readOwner(tx, agent));
  const originals = new Map<string | null, RecordingModel>();
  for (const row of await tx.recording.findMany({ where: { id: { in: originalIds } } })) originals.set(row.id, row);
  const originalOf = (copy: RecordingModel | null) => {
    const original = originals.get(copy?.importStatus === "failed" ? copy.duplicateOfId : null);
    return original && copy && isOfSameDevice(original, copy) ? original : null;
  };
  return new Map(
    files.map(({ id: fileId, versionId, recordingId, recording, firstReportedAtNs, permitId }) => {
      const facts = { recording, original: originalOf(recording), hasOpenRequest: requested.has(recordingId) };
      return [versionId, { fileId, permitId, ...facts, firstReportedAtNs, settings }];
    }),
  );
}

/** Finds the recordings that have the content of those that were rejected as duplicates. */
async function findOriginalIds(tx: Transaction, recordingIds: readonly string[]): Promise<string[]> {
  const copies = await tx.recording.findMany({
    where: { id: { in: [...recordingIds] }, importStatus: "failed", duplicateOfId: { not: null } },
    select: { duplicateOfId: true },
  });
  return copies.flatMap(({ duplicateOfId }) => duplicateOfId ?? []);
}

/** Recordings of two devices may have the same key, and then prove nothing for each other. spec: wire contract §4 */
function isOfSameDevice(original: RecordingModel, copy: RecordingModel): boolean {
  return copy.deviceId !== null && original.deviceId === copy.deviceId;
}

interface Judgement {
  readonly versionId: string;
  readonly fileId?: string;
  readonly permitId: string;
  readonly refusal?: Refusal;
  /** The recording whose stored bytes have to be read before the agent asks again. */
  readonly toReadId?: string;
}

function judge(
  { versionId, reason, sha256 }: Item,
  known: KnownCase | undefined,
  { suspension, ...common }: Common & { readonly suspension: Refusal | undefined },
): Judgement {
  const permitId = known?.permitId ?? newId("prm");
  if (!known) return { versionId, permitId, refusal: unknown };
  const { fileId, permitId: _, ...matter } = known;
  const verdict = suspension ?? judgeDeletion({ ...matter, ...common, reason, sha256 });
  if (!verdict) return { versionId, fileId, permitId };
  const { toReadId, ...refusal } = { toReadId: undefined, ...verdict };
  return { versionId, fileId, permitId, refusal, toReadId };
}

const unknown: Refusal = { code: "Unknown", text: "the agent has not reported this version" };

/**
 * Returns why the agent gets no permit at all: it has not listed all it has under this incarnation, so that a restored cloud first learns
 * what it has lost, or database and store may not belong together. Both are read from the deployment's row each time. An agent with a later
 * lease than the known one lists all, too.
 */
function suspensionOf({ incarnation, danger }: HeldDeployment, agent: AgentModel): Refusal | undefined {
  if (danger !== undefined) return { code: "Suspended", text: danger };
  if (agent.listedIncarnation === incarnation) return undefined;
  const text = "the agent has not reported all its files since this control plane was set up or restored";
  return { code: "Suspended", text };
}

/** A repeated permit is the same one with a later end; after a refusal an earlier permit has no effect any more. */
async function grant(tx: Transaction, judged: readonly Judgement[], nowNs: bigint): Promise<Complete<PermitAnswer>[]> {
  const permitExpiresAtNs = nowNs + PERMIT_NS;
  const rows = judged.flatMap(({ fileId: id, permitId, refusal }) => {
    if (id === undefined) return [];
    return refusal ? { id, permitId: null, permitExpiresAtNs: null } : { id, permitId, permitExpiresAtNs };
  });
  await tx.$executeRaw`
    UPDATE "EdgeFile" f SET "permitId" = g."permitId", "permitExpiresAtNs" = g."permitExpiresAtNs"
    FROM json_populate_recordset(NULL::"EdgeFile", ${toJson(rows)}::json) g
    WHERE f.id = g.id AND (f."permitId", f."permitExpiresAtNs") IS DISTINCT FROM (g."permitId", g."permitExpiresAtNs")`;
  return judged.map(({ versionId, permitId, refusal }) =>
    refusal
      ? { versionId, answer: "refused", notBefore: undefined, ...refusal }
      : { versionId, answer: "granted", permitId, expiresAt: permitExpiresAtNs },
  );
}
