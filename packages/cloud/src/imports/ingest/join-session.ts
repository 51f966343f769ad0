import type { DeviceModel, ImportRequestModel, SessionModel } from "../../db/generated/models.ts";
import type { Transaction } from "../../db/transaction.ts";
import { findOrCreateSession } from "../../fleet/sessions/create-session.ts";
import { holdSession } from "../../fleet/sessions/find-session.ts";
import type { LockedRecording } from "../../import-life/lock-recording.ts";

interface Repeat {
  /** The request of an upload whose content the recording has already. */
  readonly request: Pick<ImportRequestModel, "deviceId" | "sessionId" | "sessionKey">;
  readonly recording: LockedRecording;
  readonly nowNs: bigint;
}

/**
 * The recording joins the session that a repeated upload itself names, if it is in none; it had joined the session that its file names
 * before, and it may have been removed from there since. Returns why it did not join; undefined if all is as the upload asks. That is no
 * reason to fail, because every repeat of an upload is harmless. The caller has locked the recording, which every transaction locks before
 * the session.
 */
export async function joinSession(tx: Transaction, repeat: Repeat): Promise<string | undefined> {
  const { request, recording } = repeat;
  if (request.sessionId === null && request.sessionKey === null) return undefined;
  if (recording.sessionId !== null) return explainOtherSession(tx, request, recording.sessionId);
  const { deviceId } = recording;
  if (deviceId === null) return "the recording is in no session, because it is of no device";
  const isOfOther = `the recording is in no session, because it is of device ${deviceId}`;
  if (request.deviceId !== null && request.deviceId !== deviceId) return isOfOther;
  const device = await tx.device.findUniqueOrThrow({ where: { id: deviceId } });
  const session = await holdNamed(tx, repeat, device);
  if (!session) return `the recording is in no session, because ${request.sessionId} was deleted`;
  if (session.deviceId !== deviceId) return isOfOther;
  await tx.recording.update({ where: { id: recording.id }, data: { sessionId: session.id } });
  return undefined;
}

/** Finds the recording's session if it is another one than the request names. */
async function explainOtherSession(
  tx: Transaction,
  { sessionId, sessionKey }: Repeat["request"],
  id: string,
): Promise<string | undefined> {
  const { key } = await tx.session.findUniqueOrThrow({ where: { id }, select: { key: true } });
  const isNamed = sessionId === null ? key === sessionKey : id === sessionId;
  return isNamed ? undefined : `the recording is in session ${id} already`;
}

/** A session named by key is created if there is none: it was deleted since the link was requested, or the link named no device. */
function holdNamed(
  tx: Transaction,
  { request, nowNs }: Repeat,
  device: DeviceModel,
): Promise<SessionModel | undefined> {
  const { sessionId: id, sessionKey } = request;
  if (id !== null) return holdSession(tx, { id, projectId: device.projectId });
  return findOrCreateSession(tx, { device, key: sessionKey!, nowNs });
}
