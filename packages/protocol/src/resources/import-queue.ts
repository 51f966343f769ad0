import { z } from "zod";
import { apiKey, operation } from "../operations/operation.ts";
import { page } from "../shapes/list.ts";
import { byDevice, inProject } from "../shapes/selectors.ts";
import { ByteCount, DeviceSummary, EdgeSiteSummary } from "../shapes/summaries.ts";
import { Id } from "../shapes/text.ts";
import { Timestamp } from "../shapes/time.ts";
import { Requester } from "./pending-imports.ts";

/**
 * Why a file is not on its way. A closed list, of which the first that applies is given.
 * `AgentCloned`: two agents work with copies of one state, and none is served · `DeviceDisabled` · `DeviceOffline`: the control plane does
 * not hear from the device's agent · `StorageMissing`: the card or disk with the file is not there · `UploadsHeldBack`: by the device's
 * settings, or by a user of the device · `StorageFull`: the control plane takes no more · `UploadFailing`: the last tries
 * failed · `BehindOthers`: other files come first · `AgentToStart`: nothing holds the file up
 */
export const WaitReason = z.enum([
  "AgentCloned",
  "DeviceDisabled",
  "DeviceOffline",
  "StorageMissing",
  "UploadsHeldBack",
  "StorageFull",
  "UploadFailing",
  "BehindOthers",
  "AgentToStart",
]);
export type WaitReason = z.infer<typeof WaitReason>;

export const QueuedImport = z
  .object({
    recordingId: z
      .string()
      .optional()
      .meta({ description: "Absent where it moved to a project that the caller does not see" }),
    requestId: z.string(),
    projectId: z.string(),
    device: DeviceSummary.optional(),
    edgeSite: EdgeSiteSummary.optional(),
    path: z.string(),
    size: ByteCount.optional(),
    priority: z.int().meta({ description: "Higher comes first" }),
    requestedAt: Timestamp,
    requestedBy: Requester.optional(),
    isRepair: z
      .boolean()
      .optional()
      .meta({ description: "True: the stored data is damaged, and this file replaces it" }),
    position: z.int().min(1).optional().meta({
      description:
        "Among all that its agent is asked for, also what the caller does not see; absent while its device is disabled",
    }),
    state: z.enum(["waiting", "uploading"]),
    bytesReceived: ByteCount.meta({ description: "Durable here" }),
    bytesPerSecond: ByteCount.optional().meta({ description: "As the agent measured it last" }),
    waitsFor: z
      .object({
        code: WaitReason,
        text: z.string(),
        fix: z.string().optional().meta({ description: "Says what can be done about it" }),
        until: Timestamp.optional().meta({ description: "When that ends by itself, as far as it is known" }),
      })
      .optional()
      .meta({ description: "While it is waiting" }),
  })
  .meta({ id: "QueuedImport" });
export type QueuedImport = z.infer<typeof QueuedImport>;

export const importQueue = {
  list: operation({
    method: "get",
    path: "/v1/data/import-queue",
    access: apiKey("data.imports.pending.list", "projects"),
    summary: "List the imports that wait for their devices, with what each waits for",
    description: "By priority, then by the time of the request. Once the bytes are here, a file is a pending import.",
    query: z.object({ ...byDevice, edgeSiteId: Id.optional(), ...inProject, ...page }),
    response: z.array(QueuedImport),
  }),
};
