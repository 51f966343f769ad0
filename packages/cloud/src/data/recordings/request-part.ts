// A request asks only for the parts of a recording that no earlier one asked for, so that parts overlap nowhere. So no message crosses a slow
// link twice, and the imported parts can be read together.

import { type api, type Input, MAX_CUTS, type Output, type Requester } from "@downlink/protocol";
import { contextOf, type TransactionContext } from "../../background/jobs/transaction-context.ts";
import type { Ctx } from "../../calls/context/context.ts";
import type { Complete } from "../../core/complete.ts";
import { refuse, throwNotFound } from "../../core/errors.ts";
import type { CutModel, RecordingModel } from "../../db/generated/models.ts";
import { newId } from "../../db/ids.ts";
import { type Transaction, withTransaction } from "../../db/transaction.ts";
import { takesCuts } from "../../fleet/agents/agent-rows.ts";
import { wantedCut } from "../../fleet/agents/cuts.ts";
import { edgeCopyOf } from "../../import-life/edge-copy.ts";
import { forgetData } from "../../import-life/forget-data.ts";
import { findLocked, lockRecording } from "../../import-life/lock-recording.ts";
import { findRequester } from "../../organization/api-keys/find-requester.ts";
import { choosePart, isSilent, nameBytes, type PartFields, type TopicTimes, timesOf } from "./choose-part.ts";
import { inOrder, isKept, toCut, withRecording } from "./cut-rows.ts";
import { missingParts, overlap, type Part } from "./plan-cuts.ts";
import { requestImport } from "./recording-changes.ts";

type RequestImport = typeof api.recordings.requestImport;
type Body = PartFields & Pick<Input<RequestImport>, "priority"> & { readonly orWhole?: boolean | undefined };
type Answer = Complete<Output<RequestImport>>;

/** The answer of `work` names all cuts that are wanted of an agent. */
const MAX_CUTS_OF_AGENT = 200;
const MAX_NAME_BYTES_OF_AGENT = 1024 * 1024;

/** Asks the device for a part of a recording. One that is imported already is answered as it is. */
export async function requestPart(ctx: Ctx, { id }: Pick<RecordingModel, "id">, body: Body): Promise<Answer> {
  const asked = await withTransaction(ctx.db, async (tx) =>
    askForPart(contextOf(tx, ctx), { id, requestedBy: await findRequester(tx, ctx) }, body),
  );
  return asked === "whole" ? { ...(await requestImport(ctx, { id }, body.priority)), cuts: undefined } : asked;
}

interface Asking {
  /** The whole recording. */
  readonly id: string;
  readonly requestedBy: Requester;
}

/** Asks within a transaction. Returns `whole` where the whole recording has to be asked for instead. */
export async function askForPart(
  context: TransactionContext,
  { id, requestedBy }: Asking,
  body: Body,
): Promise<Answer | "whole"> {
  const { tx, nowNs } = context;
  const recording = await lockRecording(tx, id);
  const { importStatus, storedDamage } = recording;
  if (storedDamage !== null) return "whole"; // that repairs it
  if (importStatus === "complete" || importStatus === "importing") return { id, importStatus, cuts: undefined };
  const edgeFile = edgeCopyOf(recording, nowNs) ?? throwNotFound(`the edge copy of recording ${id}`);
  const agent = await tx.agent.findUniqueOrThrow({ where: { id: edgeFile.agentId } });
  if (body.orWhole && !takesCuts(agent)) return "whole";
  const topics = await tx.recordingTopic.findMany({ where: { recordingId: id } });
  const times = timesOf(topics);
  const wanted = choosePart(recording, times, body);
  await addMissing(context, { recording, edgeFile, times, wanted, requestedBy, priority: body.priority });
  const rows = await tx.cut.findMany({ where: { wholeId: id }, include: withRecording, orderBy: inOrder });
  const holding = rows.filter((row) => overlap(row, wanted));
  return { id, importStatus, cuts: holding.map(toCut) };
}

interface Adding {
  readonly recording: RecordingModel;
  readonly edgeFile: { readonly agentId: string; readonly versionId: string };
  readonly times: TopicTimes;
  readonly wanted: Part;
  readonly priority: number;
  readonly requestedBy: Requester;
}

/** Adds what is missing, and moves up what waits already. Parts that failed are asked for again. */
async function addMissing(context: TransactionContext, adding: Adding): Promise<void> {
  const { tx, nowNs } = context;
  const { recording, edgeFile, times, wanted, priority, requestedBy } = adding;
  const rows = await tx.cut.findMany({ where: { wholeId: recording.id }, include: withRecording });
  const concerned = rows.filter((row) => overlap(row, wanted));
  const known = concerned.filter(isKept);
  const failed = concerned.filter((row) => !isKept(row));
  for (const cut of failed) await removeCut(context, cut);
  await raise(tx, known, priority);
  const parts = missingParts(wanted, known)
    .map((part) => ({ ...part, topics: part.topics.filter((topic) => !isSilent(times, topic, part)) }))
    .filter((part) => part.topics.length > 0);
  await requireFew(tx, { agentId: edgeFile.agentId, count: rows.length - failed.length, parts });
  const { agentId, versionId } = edgeFile;
  const of = { orgId: recording.orgId, wholeId: recording.id, agentId, versionId, priority, requestedBy };
  const moments = { createdAtNs: nowNs, updatedAtNs: nowNs };
  const data = parts.map((part) => ({ ...of, ...moments, ...part, id: newId("cut"), state: "requested" as const }));
  await tx.cut.createMany({ data });
}

async function raise(tx: Transaction, known: readonly CutModel[], priority: number): Promise<void> {
  const recordingIds = known.flatMap(({ recordingId }) => recordingId ?? []);
  const lower = { priority: { lt: priority } };
  await tx.cut.updateMany({ where: { id: { in: known.map(({ id }) => id) }, ...lower }, data: { priority } });
  await tx.importRequest.updateMany({
    where: { recordingId: { in: recordingIds }, state: "awaiting", ...lower },
    data: { priority },
  });
}

interface Counted {
  readonly agentId: string;
  /** The parts that the recording has. */
  readonly count: number;
  readonly parts: readonly Part[];
}

async function requireFew(tx: Transaction, { agentId, count, parts }: Counted): Promise<void> {
  if (count + parts.length > MAX_CUTS)
    refuse("Conflict", `the recording would have more than ${MAX_CUTS} parts; import it whole, or longer parts of it`);
  const open = await tx.cut.findMany({ where: { agentId, ...wantedCut }, select: { topics: true } });
  const bytes = [...open, ...parts].reduce((sum, { topics }) => sum + nameBytes(topics), 0);
  if (open.length + parts.length > MAX_CUTS_OF_AGENT || bytes > MAX_NAME_BYTES_OF_AGENT)
    refuse("Conflict", `the device has ${open.length} parts to send; wait until some are here, or cancel some`);
}

interface CutRef {
  readonly cutId: string;
}

/** Takes back what the device has not delivered; once the bytes are stored it is too late: 409. */
export async function cancelCut(ctx: Ctx, { id }: RecordingModel, { cutId }: CutRef): Promise<{ id: string }> {
  await withTransaction(ctx.db, async (tx) => {
    const where = { id: cutId, wholeId: id };
    const found = await tx.cut.findFirst({ where });
    if (found?.recordingId) await lockRecording(tx, found.recordingId);
    await tx.$queryRaw`SELECT id FROM "Cut" WHERE id = ${cutId} FOR UPDATE`;
    const cut = await tx.cut.findFirst({ where, include: withRecording });
    if (!cut) throwNotFound(`cut ${cutId} of recording ${id}`);
    const { importStatus } = toCut(cut);
    if (importStatus === "importing" || importStatus === "complete")
      refuse("Conflict", `the import of the part is ${importStatus}; only a pending one can be cancelled`);
    await removeCut(contextOf(tx, ctx), cut);
  });
  return { id: cutId };
}

/** Its recording has no data, and goes as soon as the device has removed the file. */
async function removeCut(context: TransactionContext, { id, recordingId }: CutModel): Promise<void> {
  const recording = recordingId === null ? null : await findLocked(context.tx, recordingId);
  if (recording) await forgetData(context, recording);
  await context.tx.cut.deleteMany({ where: { id } });
}
