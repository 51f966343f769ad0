import { z } from "zod";
import { inboxToken, operation } from "../operations/operation.ts";
import { Id, StorableText } from "../shapes/text.ts";
import { DeviceName } from "./devices.ts";

export const StorageProvider = z.enum(["google_cloud", "aws", "azure", "s3_compatible"]);
export type StorageProvider = z.infer<typeof StorageProvider>;

/** The longest name of an object, in bytes of UTF-8: that of S3, of Google Cloud and of Azure. */
export const MAX_OBJECT_NAME_BYTES = 1024;
/** How many days a repeated notification is recognized. */
export const NOTIFICATION_DAYS = 7;

const utf8 = new TextEncoder();

/** The name of an object in a bucket, as the bucket has it: nothing of it is decoded. */
export const ObjectName = StorableText.min(1).refine((name) => utf8.encode(name).byteLength <= MAX_OBJECT_NAME_BYTES, {
  error: `must have at most ${MAX_OBJECT_NAME_BYTES} bytes of UTF-8`,
});

/**
 * The owner of a changed object, if the sender knows it. It takes precedence over the owner that the object's metadata and the file name.
 */
const ownerFields = {
  deviceId: Id.optional(),
  deviceName: DeviceName.optional().meta({ description: "Created if no device of the project has it" }),
  projectId: Id.optional(),
};

/** Notifications that an object of a primary site's bucket was created or removed. */
export const bucketNotifications = {
  create: operation({
    method: "post",
    path: "/v1/site-bucket-notifications",
    access: inboxToken(),
    summary: "Tell a primary site that an object of its bucket was created or removed",
    description:
      "The contents of the bucket decide, at the time when it is looked at, so the order does not matter. A `messageId` that came within seven days changes nothing. Nothing is ever deleted by this.",
    body: z.object({
      messageId: StorableText.min(1).max(1024).meta({ description: "Notifications are recognized again by it" }),
      fileName: ObjectName.meta({ description: "The object's whole name" }),
      bucketName: StorableText.min(1).max(255),
      storageProvider: StorageProvider.meta({ description: "It must be that of the site" }),
      azureStorageAccountName: StorableText.min(1)
        .max(255)
        .optional()
        .meta({ description: "Required if the provider is `azure`" }),
      notificationType: z.enum(["object_created", "object_removed"]).default("object_created"),
      ...ownerFields,
    }),
    response: z.object({ success: z.literal(true) }),
  }),
};
