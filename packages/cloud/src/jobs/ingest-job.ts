import { LARGE_FILE_BYTES } from "./large-file.ts";

/** Which job brings the import of so many bytes to its end. */
export function ingestJob(sizeBytes: bigint | null): "ingest" | "ingest-large" {
  return sizeBytes !== null && sizeBytes > LARGE_FILE_BYTES ? "ingest-large" : "ingest";
}
