import { z } from "zod";
import { apiKey, operation } from "../operations/operation.ts";
import { deprecate } from "../shapes/deprecate.ts";
import { page, sorting } from "../shapes/list.ts";
import { byDevice, byRecording, bySession, inProject } from "../shapes/selectors.ts";
import { ByteCount } from "../shapes/summaries.ts";
import { Id, StorableText } from "../shapes/text.ts";
import { Timestamp } from "../shapes/time.ts";

export const RecordingAttachment = z
  .object({
    id: z.string(),
    recordingId: z.string(),
    siteId: z.string(),
    name: z.string(),
    mediaType: z.string(),
    logTime: Timestamp,
    createTime: Timestamp,
    crc: z.int().min(0).meta({ description: "CRC-32 of the attachment's record; 0: not computed by the recorder" }),
    dataOffset: z.int().min(0).meta({ description: "Bytes from the start of the recording's file" }),
    size: ByteCount,
    fingerprint: z.string().meta({ description: "The same for the same content; its algorithm may change" }),
    lakePath: z.string().optional().meta({
      description:
        "At a self-hosted site: the path, in the store of the site, of the file whose bytes from `dataOffset` on are the attachment",
    }),
  })
  .meta({ id: "RecordingAttachment" });
export type RecordingAttachment = z.infer<typeof RecordingAttachment>;

/** Downloading (`GET /v1/recording-attachments/{id}/download`) answers 302 and is a plain route. */
export const attachments = {
  list: operation({
    method: "get",
    path: "/v1/recording-attachments",
    access: apiKey("recordings.list", "projects"),
    summary: "List the attachments of imported recordings",
    query: z.object({
      ...byRecording,
      siteId: Id.optional(),
      importId: deprecate(
        StorableText.optional().meta({ description: "The attachments of this import" }),
        "2026-11-26",
      ),
      ...byDevice,
      ...bySession,
      ...inProject,
      ...sorting("logTime"),
      ...page,
    }),
    response: z.array(RecordingAttachment),
  }),
  get: operation({
    method: "get",
    path: "/v1/recording-attachments/{id}",
    access: apiKey("recordings.list", "projects"),
    summary: "Get an attachment's description",
    params: z.object({ id: Id }),
    response: RecordingAttachment,
  }),
};
