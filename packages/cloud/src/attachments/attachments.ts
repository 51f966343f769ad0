import type { api, Input, RecordingAttachment } from "@downlink/protocol";
import type { Ctx } from "../context.ts";
import type { Prisma } from "../db/generated/client.ts";
import { selectDevice } from "../devices/find-device.ts";
import type { Handlers } from "../http/serve.ts";
import { visibleIn } from "../projects/find-project.ts";
import { attachmentColumns, toAttachment } from "./attachment-rows.ts";
import { findAttachment, isHeld } from "./find-attachment.ts";

type Contract = typeof api.attachments;
type ListQuery = Input<Contract["list"]>;

export const attachments: Handlers<Contract> = {
  list: listAttachments,
  get: (ctx, { id }) => findAttachment(ctx, id).then(toAttachment),
};

async function listAttachments(ctx: Ctx, query: ListQuery): Promise<RecordingAttachment[]> {
  const rows = await ctx.db.prisma.recordingAttachment.findMany({
    where: await whereAttachments(ctx, query),
    select: attachmentColumns,
    orderBy: [{ logTimeNs: query.sortOrder }, { id: query.sortOrder }],
    take: query.limit,
    skip: query.offset,
  });
  return rows.map(toAttachment);
}

/** An empty selector selects nothing in particular. */
async function whereAttachments(ctx: Ctx, query: ListQuery): Promise<Prisma.RecordingAttachmentWhereInput> {
  const device = await selectDevice(ctx, query);
  const scope = await visibleIn(ctx, query.projectId);
  const { recordingId, recordingKey, sessionId, sessionKey, siteId } = query;
  return {
    AND: [
      { ...scope, ...isHeld },
      { ...(device && { deviceId: device.id }), ...(recordingId && { recordingId }), ...(siteId && { siteId }) },
      recordingKey ? { recording: { ...scope, key: recordingKey } } : {},
      sessionId ? { recording: { sessionId } } : {},
      sessionKey ? { recording: { session: { orgId: scope.orgId, key: sessionKey } } } : {},
    ],
  };
}
