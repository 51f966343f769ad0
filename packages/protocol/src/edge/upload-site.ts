import { z } from "zod";
import { Credential } from "../shapes/credentials.ts";
import { Timestamp } from "../shapes/time.ts";

/** The self-hosted site that takes an upload, and what lets the agent in. */
export const UploadSite = z.object({
  id: z.string(),
  name: z.string(),
  address: z.string().meta({ description: "The URL of the site; the paths of `siteUploads` follow it" }),
  capability: Credential.meta({
    description:
      "The bearer token for this upload at this site, and for nothing else. Where the site answers `LinkExpired` or `LinkRefused`, open the upload again: the answer has another one",
  }),
  expiresAt: Timestamp,
});
export type UploadSite = z.infer<typeof UploadSite>;
