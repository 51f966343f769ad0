import type { Ctx } from "../../calls/context/context.ts";
import { throwNotFound } from "../../core/errors.ts";
import type { Prisma } from "../../db/generated/client.ts";
import { visibleTo } from "../../organization/projects/find-project.ts";
import { type AttachmentRow, attachmentColumns } from "./attachment-rows.ts";

/** Attachments of an edge recording are shown once a primary site holds their bytes. */
export const isHeld = { siteId: { not: null } } satisfies Prisma.RecordingAttachmentWhereInput;

export interface StoredAttachment extends AttachmentRow {
  /** The recording whose object holds the attachment's bytes. */
  readonly recording: { readonly blobKey: string | null; readonly siteObjectKey: string | null };
}

export async function findAttachment(ctx: Ctx, id: string): Promise<StoredAttachment> {
  const row = await ctx.db.prisma.recordingAttachment.findFirst({
    where: { AND: [{ id }, visibleTo(ctx), isHeld] },
    select: { ...attachmentColumns, recording: { select: { blobKey: true, siteObjectKey: true } } },
  });
  return row ?? throwNotFound(`attachment ${id}`);
}
