import type { Deps } from "../context/context.ts";

/** What the processing of a file needs of the whole. */
export type IngestDeps = Pick<Deps, "db" | "blobs" | "indexer" | "jobs" | "clock" | "log" | "metrics">;
