import type { api, Input, RecordingAttachment } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import type { Handlers } from "../../calls/serve/handlers.ts";
import type { Complete } from "../../core/complete.ts";
import type { Prisma } from "../../db/generated/client.ts";
import { selectDevice } from "../../fleet/devices/find-device.ts";
import { selectSession } from "../../fleet/sessions/find-session.ts";
import { visibleIn } from "../../organization/projects/find-project.ts";
import { selectSite } from "../../organization/projects/find-site.ts";
import { selectRecording } from "../recordings/find-recording.ts";
import { attachmentColumns, toAttachment } from "./attachment-rows.ts";
import { findAttachment, isHeld } from "./find-attachment.ts";

type Contract = typeof api.attachments;
type ListQuery = Input<Contract["list"]>;

export const attachments: Handlers<Contract> = {
  list: listAttachments,
  get: (ctx, { id }) => findAttachment(ctx, id).then(toAttachment),
};

async function listAttachments(ctx: Ctx, query: ListQuery): Promise<Complete<RecordingAttachment>[]> {
  const rows = await ctx.db.prisma.recordingAttachment.findMany({
    where: await filterAttachments(ctx, query),
    select: attachmentColumns,
    orderBy: [{ logTimeNs: query.sortOrder }, { id: query.sortOrder }],
    take: query.limit,
    skip: query.offset,
  });
  return rows.map(toAttachment);
}

/** An empty selector selects everything. */
async function filterAttachments(ctx: Ctx, query: ListQuery): Promise<Prisma.RecordingAttachmentWhereInput> {
  const device = await selectDevice(ctx, query);
  const recording = await selectRecording(ctx, query);
  const session = await selectSession(ctx, query);
  const site = await selectSite(ctx, query.siteId);
  return {
    AND: [
      { ...(await visibleIn(ctx, query.projectId)), ...isHeld },
      { ...(device && { deviceId: device.id }), ...(site && { siteId: site.id }) },
      recording ? { recordingId: recording.id } : {},
      session ? { recording: { sessionId: session.id } } : {},
      query.importId ? { recording: { importId: query.importId } } : {},
    ],
  };
}
