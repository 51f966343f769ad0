import type { Ctx } from "../context.ts";
import type { Prisma } from "../db/generated/client.ts";
import { selectDevice } from "../devices/find-device.ts";
import { visibleIn } from "../projects/find-project.ts";

export interface RecordingSelector {
  readonly recordingId?: string | undefined;
  readonly recordingKey?: string | undefined;
  readonly importId?: string | undefined;
  readonly deviceId?: string | undefined;
  readonly deviceName?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly sessionKey?: string | undefined;
  readonly projectId?: string | undefined;
  /** Of recordings that end at or after. */
  readonly start?: bigint | undefined;
  /** Of recordings that start at or before. */
  readonly end?: bigint | undefined;
}

/** The recordings that the common selectors of topics, coverage and exports name, among those the caller may see. */
export async function whereSelected(ctx: Ctx, selector: RecordingSelector): Promise<Prisma.RecordingWhereInput> {
  const device = await selectDevice(ctx, selector);
  const { recordingId, recordingKey, importId, sessionId, sessionKey, start, end } = selector;
  return {
    AND: [
      await visibleIn(ctx, selector.projectId),
      {
        ...(recordingId !== undefined && { id: recordingId }),
        ...(recordingKey !== undefined && { key: recordingKey }),
      },
      { ...(importId !== undefined && { importId }), ...(device && { deviceId: device.id }) },
      {
        ...(sessionId !== undefined && { sessionId }),
        ...(sessionKey !== undefined && { session: { key: sessionKey } }),
      },
      { ...(start !== undefined && { endNs: { gte: start } }), ...(end !== undefined && { startNs: { lte: end } }) },
    ],
  };
}
