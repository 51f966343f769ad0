// The database has lost that a recording is a part of another one, but the agent wrote into the file of which one. Anyone can write such a
// record, so that it counts only for a file that a device sent, and only of a recording of the same device.

import { CUT_RECORD_NAME, FIRST_TIME_NS, LAST_TIME_NS, StorableText } from "@downlink/protocol";
import type { MetadataRecord } from "@downlink/recordings";
import { z } from "zod";
import type { ImportRequestModel, RecordingModel } from "../../db/generated/models.ts";
import type { Transaction } from "../../db/transaction.ts";

const TimeNs = z
  .string()
  .regex(/^(0|-?[1-9]\d{0,18})$/)
  .transform(BigInt)
  .refine((timeNs) => timeNs >= FIRST_TIME_NS && timeNs <= LAST_TIME_NS);
const Topics = z.array(StorableText.min(1)).min(1).max(1000);

const CutRecord = z
  .object({
    requestId: z.string().regex(/^cut_[0-9a-z]{26}$/),
    versionId: StorableText.min(1),
    topics: z.string().transform(parseTopics).pipe(Topics),
    startNs: TimeNs,
    endNs: TimeNs,
  })
  .refine(({ startNs, endNs }) => startNs <= endNs);
type CutRecord = z.output<typeof CutRecord>;

function parseTopics(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

interface Part {
  readonly recording: Pick<RecordingModel, "id" | "orgId" | "projectId" | "deviceId">;
  readonly metadata: readonly MetadataRecord[];
  readonly nowNs: bigint;
}

/** Makes an adopted recording a part of another one again, if its file says so and that one is here. */
export async function restoreCut(tx: Transaction, { recording, metadata, nowNs }: Part): Promise<void> {
  const { data: record } = CutRecord.safeParse(metadata.findLast(({ name }) => name === CUT_RECORD_NAME)?.metadata);
  if (!record) return;
  const { id: recordingId } = recording;
  const sent = {
    recordingId,
    orgId: recording.orgId,
    source: "edge",
    isAdopted: true,
    agentId: { not: null },
  } as const;
  const request = await tx.importRequest.findFirst({ where: sent, orderBy: { createdAtNs: "desc" } });
  if (!request || (await tx.cut.count({ where: { recordingId } })) > 0) return;
  const made = await findCut(tx, { recording, record, request });
  if (!made) return;
  const { requestId: id } = record;
  const after = { state: "made", recordingId, updatedAtNs: nowNs } as const;
  // A backup may be so old that the cut is still asked for; one of another recording or organization stays as it is.
  await tx.cut.createMany({ data: { ...made, ...after, id }, skipDuplicates: true });
  await tx.cut.updateMany({ where: { id, orgId: made.orgId, wholeId: made.wholeId, state: "requested" }, data: after });
  const isCut = (await tx.cut.count({ where: { id, recordingId } })) > 0;
  if (isCut) await tx.recording.update({ where: { id: recordingId }, data: { isCut } });
}

interface Claim extends Pick<Part, "recording"> {
  readonly record: CutRecord;
  readonly request: ImportRequestModel;
}

async function findCut(tx: Transaction, { recording, record, request }: Claim) {
  const wholeId = await findWhole(tx, { recording, record, request });
  if (wholeId === undefined) return undefined;
  const { versionId, topics, startNs, endNs } = record;
  const { orgId, priority, requestedBy, createdAtNs } = request;
  const agent = await tx.agent.findUnique({ where: { id: request.agentId! }, select: { id: true } });
  const asked = { priority, requestedBy: requestedBy ?? {}, createdAtNs };
  return { orgId, wholeId, agentId: agent?.id ?? null, versionId, topics, startNs, endNs, ...asked };
}

/** Finds the recording of the version by its file or, where that is gone, by its import. The device may have enrolled again, as another agent. */
async function findWhole(tx: Transaction, { recording, record, request }: Claim): Promise<string | undefined> {
  const { id, orgId, projectId, deviceId } = recording;
  const agents = deviceId === null ? [] : await tx.agent.findMany({ where: { orgId, deviceId }, select: { id: true } });
  const version = { versionId: record.versionId, agentId: { in: [request.agentId!, ...agents.map((row) => row.id)] } };
  const where = { ...version, orgId, recording: { id: { not: id }, orgId, projectId, deviceId } };
  const file = await tx.edgeFile.findFirst({ where, select: { recordingId: true } });
  const found = file ?? (await tx.importRequest.findFirst({ where, select: { recordingId: true } }));
  return found?.recordingId ?? undefined;
}
