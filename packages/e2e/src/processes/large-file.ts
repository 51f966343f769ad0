import { join } from "node:path";
import { writeMcapFile } from "@downlink/recordings/testing";

export const PART_BYTES = 16 * 1024 * 1024;

/** Writes a file of about 80 MB that no compression makes smaller: five parts. */
export async function writeLargeFile({ storageRoot }: { storageRoot: string }): Promise<string> {
  const path = join(storageRoot, "large.mcap");
  const topics = [{ topic: "/blob", kind: "blob" as const, rateHz: 10, sizeBytes: 800_000 }];
  await writeMcapFile(path, { topics, durationSeconds: 10, compression: "" });
  return path;
}
