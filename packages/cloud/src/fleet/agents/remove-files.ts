import type { DeletionReason } from "@downlink/protocol";
import type { Moment } from "../../background/jobs/transaction-context.ts";
import { writeEvents } from "../../background/outbox/outbox.ts";
import type { AgentModel } from "../../db/generated/models.ts";
import type { Transaction } from "../../db/transaction.ts";
import { abandonUploads } from "../../import-life/change-request.ts";
import { nextRequestState } from "../../import-life/import-request-state.ts";
import { nextImportStatus } from "../../import-life/import-status.ts";
import { type PublishedRecording, recordingEvent } from "../../import-life/recording-events.ts";
import { endCuts } from "./cuts.ts";
import type { FileVersion } from "./find-versions.ts";
import { endSalvages } from "./salvages.ts";

const GONE = { code: "EdgeCopyGone", text: "the file is no longer on the device" };

interface Removal {
  readonly agent: AgentModel;
  readonly files: readonly FileVersion[];
  /** The rule under which the agent deleted the files; absent if the agent did not delete them. */
  readonly because?: DeletionReason | undefined;
}

/** The agent reports that these files are gone. Their rows are deleted, and their recordings change accordingly. spec: wire contract §4 */
export async function removeFiles(moment: Moment, { agent, files, because }: Removal): Promise<void> {
  if (files.length === 0) return;
  const recordings = await lockRecordings(moment.tx, files);
  const ending = { agentId: agent.id, versionIds: files.map(({ versionId }) => versionId) };
  await endSalvages(moment, ending);
  await endCuts(moment, ending);
  await moment.tx.edgeFile.deleteMany({ where: { id: { in: idsOf(files) } } });
  const fates = Map.groupBy(recordings, ({ importStatus }) => nextImportStatus(importStatus, "edgeGone", false));
  await removeRecordings(moment, fates.get("removed") ?? [], because);
  const failing = (fates.get("failed") ?? []).filter(({ importStatus }) => importStatus !== "failed");
  await failRecordings(moment, failing);
}

/**
 * Locks the recordings in the order in which every transaction locks several of them. The recordings that change here hold no data, so they
 * are at no primary site.
 */
async function lockRecordings(tx: Transaction, files: readonly FileVersion[]): Promise<PublishedRecording[]> {
  const ids = files.flatMap(({ recordingId }) => recordingId ?? []);
  const rows = await tx.$queryRaw<Omit<PublishedRecording, "site">[]>`
    SELECT r.id, r."orgId", r."projectId", r.key, r."sessionId", r."importStatus", r.path,
      CASE WHEN d.id IS NOT NULL THEN json_build_object('id', d.id, 'name', d.name) END AS device,
      CASE WHEN e.id IS NOT NULL THEN json_build_object('id', e.id, 'name', e.name) END AS "edgeSite"
    FROM "Recording" r LEFT JOIN "Device" d ON d.id = r."deviceId" LEFT JOIN "Site" e ON e.id = r."edgeSiteId"
    WHERE r.id = ANY(${ids}) ORDER BY r.id FOR UPDATE OF r`;
  return rows.map((row) => ({ ...row, site: null }));
}

/** No import of these recordings is requested, so nothing of them is left. */
async function removeRecordings(
  { tx, nowNs }: Moment,
  recordings: readonly PublishedRecording[],
  because: DeletionReason | undefined,
): Promise<void> {
  if (recordings.length === 0) return;
  await tx.recording.deleteMany({ where: { id: { in: idsOf(recordings) } } });
  const events = recordings.map((row) =>
    recordingEvent(row, { type: "recording.deleted", occurredAtNs: nowNs, more: { because } }),
  );
  await writeEvents(tx, events);
}

/** The import of these recordings was requested, so they stay and show the failure. */
async function failRecordings({ tx, nowNs }: Moment, recordings: readonly PublishedRecording[]): Promise<void> {
  if (recordings.length === 0) return;
  const ids = idsOf(recordings);
  const failed = { importStatus: "failed", failureCode: GONE.code, failureText: GONE.text } as const;
  await tx.recording.updateMany({ where: { id: { in: ids } }, data: failed });
  const requests = await failRequests({ tx, nowNs }, ids);
  const requestOf = new Map(requests.map(({ id, recordingId }) => [recordingId, id]));
  const events = recordings.map((row) => {
    const more = { requestId: requestOf.get(row.id), code: GONE.code, error: GONE.text };
    const now = { ...row, importStatus: failed.importStatus };
    return recordingEvent(now, { type: "recording.importFailed", occurredAtNs: nowNs, more });
  });
  await writeEvents(tx, events);
}

async function failRequests({ tx, nowNs }: Moment, recordingIds: string[]) {
  const requests = await tx.importRequest.updateManyAndReturn({
    where: { recordingId: { in: recordingIds }, state: "awaiting" },
    data: {
      state: nextRequestState("awaiting", "fail")!,
      errorCode: GONE.code,
      errorText: GONE.text,
      pipelineStage: "Delivery from the device",
      updatedAtNs: nowNs,
    },
    select: { id: true, recordingId: true },
  });
  await abandonUploads({ tx, nowNs }, idsOf(requests));
  return requests;
}

function idsOf(rows: readonly { id: string }[]): string[] {
  return rows.map(({ id }) => id);
}
