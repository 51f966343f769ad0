import type { Moment } from "../background/jobs/transaction-context.ts";
import { writeEvent } from "../background/outbox/outbox.ts";
import type { ImportRequestModel } from "../db/generated/models.ts";
import { publishRecording } from "./recording-events.ts";

const type = "recording.importFailed";

/** Publishes that an import ended with an error, and the recording's failure too if there is a recording: a file that fails makes none. */
export async function publishFailure({ tx, nowNs: occurredAtNs }: Moment, request: ImportRequestModel): Promise<void> {
  const { orgId, projectId, recordingId } = request;
  const more = { requestId: request.id, code: request.errorCode, error: request.errorText };
  if (recordingId !== null) return publishRecording(tx, recordingId, { type, occurredAtNs, more });
  if (projectId !== null) await writeEvent(tx, { type, orgId, projectId, occurredAtNs, payload: more });
}
