import { z } from "zod";
import { apiKey, operation } from "../operations/operation.ts";
import { Credential } from "../shapes/credentials.ts";
import { inProject } from "../shapes/selectors.ts";
import { ByteCount } from "../shapes/summaries.ts";
import { Id } from "../shapes/text.ts";
import { Timestamp } from "../shapes/time.ts";

/**
 * This operation goes beyond the specification. The file of a recording is what was uploaded, byte for byte: exports write another one, with
 * the same messages.
 */
export const recordingFiles = {
  link: operation({
    method: "post",
    path: "/v1/recordings/{keyOrId}/file-link",
    audits: "recording",
    auditsItself: true,
    makes: "nothing",
    access: apiKey("data.stream", "projects"),
    summary: "Ask for a link to the file of an imported recording, which may be opened for an hour, whole or by ranges",
    description:
      "The bytes are those that were uploaded. The path of the link ends in the file's name, and it takes `HEAD`, `Range` and `If-Range`, so that programs that can send no header read it, such as `mcap info LINK`. It ends with the API key or session by which it was made. `GET /v1/recordings/{keyOrId}/file` answers 302 to such a link of 15 minutes.",
    params: z.object({ keyOrId: Id.meta({ description: "A recording's id or key" }) }),
    query: z.object(inProject),
    response: z.object({
      link: Credential,
      linkExpiresAt: Timestamp.meta({ description: "Until then the link may be opened; what has begun goes on" }),
      fileName: z.string().meta({ description: "The last part of the recording's path" }),
      size: ByteCount,
      contentSha256: z.string().optional().meta({
        description:
          "The SHA-256 of the bytes in hexadecimal, which is the link's `ETag` too; absent for a file that an early version imported",
      }),
    }),
  }),
};
