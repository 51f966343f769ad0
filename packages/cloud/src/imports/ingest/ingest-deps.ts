import type { Deps } from "../../calls/context/context.ts";

/** The dependencies that the processing of a file needs. */
export type IngestDeps = Pick<
  Deps,
  "db" | "blobs" | "indexer" | "jobs" | "clock" | "log" | "metrics" | "deleteProofAgeSeconds"
>;
