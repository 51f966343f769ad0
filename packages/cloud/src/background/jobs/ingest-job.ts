import { LARGE_FILE_BYTES } from "./large-file.ts";

/** Returns the kind of job that imports so many bytes. */
export function ingestJob(sizeBytes: bigint | null): "ingest" | "ingest-large" {
  return sizeBytes !== null && sizeBytes > LARGE_FILE_BYTES ? "ingest-large" : "ingest";
}
