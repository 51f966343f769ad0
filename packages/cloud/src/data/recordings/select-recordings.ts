import type { Ctx } from "../../calls/context/context.ts";
import type { Prisma } from "../../db/generated/client.ts";
import { selectDevice } from "../../fleet/devices/find-device.ts";
import { selectSession } from "../../fleet/sessions/find-session.ts";
import { visibleIn } from "../../organization/projects/find-project.ts";
import { filterBySpans } from "./filter-by-spans.ts";
import { selectRecording } from "./find-recording.ts";

export interface RecordingSelector {
  readonly recordingId?: string | undefined;
  readonly recordingKey?: string | undefined;
  readonly importId?: string | undefined;
  readonly deviceId?: string | undefined;
  readonly deviceName?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly sessionKey?: string | undefined;
  readonly projectId?: string | undefined;
  /** Selects recordings that end at this time or later. */
  readonly start?: bigint | undefined;
  /** Selects recordings that start at this time or earlier. */
  readonly end?: bigint | undefined;
}

/**
 * Selects the recordings that the common selectors of topics and exports name, among those that the caller may see. Several selectors
 * together narrow the selection; one that names a single thing which does not exist is 404.
 */
export async function filterBySelector(ctx: Ctx, selector: RecordingSelector): Promise<Prisma.RecordingWhereInput> {
  const device = await selectDevice(ctx, selector);
  const recording = await selectRecording(ctx, selector);
  const session = await selectSession(ctx, selector);
  const { importId, start, end } = selector;
  return {
    AND: [
      await visibleIn(ctx, selector.projectId),
      { ...(recording && { id: recording.id }), ...(session && { sessionId: session.id }) },
      { ...(importId !== undefined && { importId }), ...(device && { deviceId: device.id }) },
      { ...(start !== undefined && { endNs: { gte: start } }), ...(end !== undefined && { startNs: { lte: end } }) },
      ...filterBySpans({ startNs: start, endNs: end }),
    ],
  };
}
