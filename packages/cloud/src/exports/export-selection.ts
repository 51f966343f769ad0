import { deflateRawSync, inflateRawSync } from "node:zlib";
import { z } from "zod";
import { ApiError } from "../http/errors.ts";

const MAX_LINK_CHARACTERS = 48 * 1024;

const ExportSelection = z.object({
  blobKey: z.string(),
  fileName: z.string(),
  topics: z.array(z.string()),
  /** Decimal nanoseconds; inclusive. */
  startNs: z.string().optional(),
  endNs: z.string().optional(),
  compression: z.enum(["", "lz4", "zstd"]),
  includeAttachments: z.boolean(),
});
/** What an export link says of the stream behind it. */
export type ExportSelection = z.infer<typeof ExportSelection>;

/** The selection as a link's claims: compressed, for links that name hundreds of topics. */
export function encodeSelection(selection: ExportSelection): Record<string, string> {
  const text = deflateRawSync(JSON.stringify(selection)).toString("base64url");
  if (text.length > MAX_LINK_CHARACTERS) throw new ApiError("InvalidRequest", "topics: too many to stand in one link");
  return { selection: text };
}

/** Only of claims whose signature was checked. */
export function decodeSelection(claims: Record<string, string>): ExportSelection {
  return ExportSelection.parse(
    JSON.parse(inflateRawSync(Buffer.from(claims.selection ?? "", "base64url")).toString("utf8")),
  );
}
