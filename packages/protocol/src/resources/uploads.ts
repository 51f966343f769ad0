import { z } from "zod";
import { apiKey, operation } from "../operations/operation.ts";
import { Credential } from "../shapes/credentials.ts";
import { withAliases } from "../shapes/query.ts";
import { inProject } from "../shapes/selectors.ts";
import { Id, StorableText } from "../shapes/text.ts";
import { Timestamp } from "../shapes/time.ts";
import { DeviceName } from "./devices.ts";
import { RecordingKey } from "./recordings.ts";
import { SessionKey } from "./sessions.ts";

/** A path as the sender likes it. It is stored and shown as it is, and names nothing on the server. */
const FileName = StorableText.min(1)
  .max(4096)
  .refine((name) => !/^(\.?\/)*_quarantine\//.test(name), "_quarantine/ is a prefix that uploads may not use");

/** The file, and where it belongs. They are spread into the body of each way to upload. */
export const uploadFields = {
  filename: FileName,
  deviceId: withAliases(Id.optional(), ["device.id"]),
  deviceName: withAliases(DeviceName.optional().meta({ description: "Created at once when absent" }), ["device.name"]),
  key: RecordingKey.optional(),
  sessionId: Id.optional(),
  sessionKey: SessionKey.optional().meta({
    description:
      "The key of the session to join. If no session of the device has it, one is created at once; if only the file names its device, once it is imported",
  }),
  siteId: Id.optional().meta({
    description:
      "The primary site that takes the file, service-hosted or self-hosted; by default that of the project, else the service-hosted one",
  }),
  ...inProject,
};

export function namesRobot(body: {
  deviceId?: string | undefined;
  deviceName?: string | undefined;
  key?: string | undefined;
}) {
  return (body.deviceId ?? body.deviceName ?? body.key) !== undefined;
}

export const ROBOT_REQUIRED = "one of deviceId, deviceName or key is required";

export const uploads = {
  create: operation({
    method: "post",
    path: "/v1/data/upload",
    unaudited: "The import request is listed with what became of it",
    makes: { repeat: "link", idField: "requestId" },
    access: apiKey("data.upload", "projects"),
    summary: "Ask for a link to upload a recording",
    description:
      "PUT the file to `link` with `Content-Type: application/octet-stream` or without a type, as `curl -T` does; follow `requestId` in the pending imports. A device or session that is missing is made with the link, and stays where the link is never used; this needs no capability but this one. Content that a recording has already makes no other one: that one joins the session that is named here where it is in none, else `pipelineStage` says why it does not.",
    body: z.object(uploadFields).refine(namesRobot, ROBOT_REQUIRED),
    response: z.object({ link: Credential, linkExpiresAt: Timestamp, requestId: z.string() }),
  }),
};
