import type { Prisma } from "../../db/generated/client.ts";

/** Selects the recordings that may have thumbnails: their data is in our own store, or their project lets pictures leave buckets. */
export const mayHaveThumbnails = {
  importStatus: "complete",
  siteObjectKey: null,
  OR: [{ project: { thumbnails: "all" } }, { project: { thumbnails: "own" }, location: null }],
} as const satisfies Prisma.RecordingWhereInput;
