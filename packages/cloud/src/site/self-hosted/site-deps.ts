import type { Tracing } from "@downlink/tracing";
import type { Logger } from "pino";
import type { FileIndexer } from "../../background/indexing/file-indexer.ts";
import type { LinkSigner } from "../../core/signed-link.ts";
import type { Limits } from "../../process/limits/limits.ts";
import type { Turns } from "../../process/limits/turns.ts";
import type { Metrics } from "../../process/metrics/metrics.ts";
import type { UploadRecords } from "../../store/blobs/buckets/upload-records.ts";
import type { OpenedStore } from "../../store/bucket-uploads/open-store.ts";
import type { SiteClock } from "./site-clock.ts";
import type { SiteMemory } from "./site-memory.ts";

/** Everything that the process of a self-hosted site has opened. */
export interface SiteDeps {
  readonly blobs: OpenedStore;
  /** The records of the uploads that are open in a bucket; undefined: the objects are files. */
  readonly uploadRecords?: Pick<UploadRecords, "find"> | undefined;
  /** The folder of the process, which no other uses. */
  readonly dataDir: string;
  readonly indexer: FileIndexer;
  /** Accepts links with the keys that the site has at this moment. */
  readonly signer: LinkSigner;
  readonly clock: SiteClock;
  readonly memory: SiteMemory;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly tracing: Tracing;
  readonly turns: Turns;
  readonly limits: Limits;
  readonly linkOrigins: readonly string[];
  readonly readsWholeChunks: boolean;
  /** Aborted when the process was told to stop. */
  readonly stopping: AbortSignal;
}
