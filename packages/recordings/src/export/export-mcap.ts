import type { RandomAccessSource } from "../source.ts";

export interface ExportSelection {
  /** Topic names; absent or empty: all. */
  topics?: readonly string[];
  /** First and last log time, both inclusive. */
  startNs?: bigint;
  endNs?: bigint;
}

export interface ExportOptions {
  compression: "" | "lz4" | "zstd";
  includeAttachments?: boolean;
  signal?: AbortSignal;
}

export async function* exportMcap(
  source: RandomAccessSource,
  options: ExportSelection & ExportOptions & { fileName: string },
): AsyncGenerator<Uint8Array> {
  throw new Error(`not yet ${source.sizeBytes} ${options.fileName}`);
}
