import { z } from "zod";
import { DeviceName } from "./devices.ts";
import { apiKey, operation } from "./operation.ts";
import { withAliases } from "./shapes/query.ts";
import { inProject } from "./shapes/selectors.ts";

export const uploads = {
  create: operation({
    method: "post",
    path: "/v1/data/upload",
    access: apiKey("data.upload"),
    summary: "Ask for a link to upload a recording",
    description:
      "PUT the file to `link` with `Content-Type: application/octet-stream`; follow `requestId` in the pending imports.",
    body: z
      .object({
        filename: z.string().min(1).max(4096),
        deviceId: withAliases(z.string().min(1).optional(), ["device.id"]),
        deviceName: withAliases(DeviceName.optional().meta({ description: "Created when absent" }), ["device.name"]),
        key: z.string().min(1).max(1024).optional(),
        sessionId: z.string().min(1).optional(),
        sessionKey: z.string().min(1).max(1024).optional(),
        ...inProject,
      })
      .refine((body) => body.deviceId ?? body.deviceName ?? body.key, "one of deviceId, deviceName or key is required"),
    response: z.object({ link: z.string(), requestId: z.string() }),
  }),
};
