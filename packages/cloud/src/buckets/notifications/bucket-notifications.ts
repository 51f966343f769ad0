import type { api, Input, Output } from "@downlink/protocol";
import type { InboxCtx } from "../../calls/context/context.ts";
import type { Handlers } from "../../calls/serve/handlers.ts";
import type { Complete } from "../../core/complete.ts";
import { invalid, refuse, throwNotFound } from "../../core/errors.ts";
import type { OwnerHints } from "../bucket-objects/note-object.ts";
import { findMismatch, findNotifiedBucket, receiveNotifications } from "./receive-notifications.ts";

type Contract = typeof api.bucketNotifications;
type Body = Input<Contract["create"]>;

export const bucketNotifications: Handlers<Contract> = { create: createNotification };

/** A person who writes such a message by hand wants to know what is wrong with it, so another bucket or an unknown owner is refused. */
async function createNotification(ctx: InboxCtx, body: Body): Promise<Complete<Output<Contract["create"]>>> {
  const { storageProvider, fileName, bucketName, azureStorageAccountName, deviceId, deviceName, projectId } = body;
  if (storageProvider === "azure" && azureStorageAccountName === undefined)
    invalid("azureStorageAccountName", "is required if the storage provider is azure");
  const bucket = await findNotifiedBucket(ctx, ctx.caller);
  const notification = {
    messageId: `api ${body.messageId}`,
    providers: [storageProvider],
    ...{ bucketName, azureStorageAccountName, fileName },
    hints: { deviceId, deviceName, projectId },
  };
  const mismatch = findMismatch(bucket, notification);
  if (mismatch) refuse("NotificationRefused", mismatch);
  await requireOwner(ctx, notification.hints);
  await receiveNotifications(ctx, bucket, { notifications: [notification] });
  return { success: true };
}

/** A device may be created by its name, but what is named by its id must be there. */
async function requireOwner({ db, caller: { orgId } }: InboxCtx, { deviceId, projectId }: OwnerHints): Promise<void> {
  if (deviceId !== undefined && !(await db.prisma.device.findFirst({ where: { id: deviceId, orgId } })))
    throwNotFound(`device "${deviceId}"`);
  if (projectId !== undefined && !(await db.prisma.project.findFirst({ where: { id: projectId, orgId } })))
    throwNotFound(`project "${projectId}"`);
}
