import type { Tracing } from "@downlink/tracing";
import type { Logger } from "pino";
import type { UploadRecords } from "../blobs/buckets/upload-records.ts";
import type { LinkSigner } from "../blobs/signed-link.ts";
import type { OpenedStore } from "../bucket-uploads/open-store.ts";
import type { FileIndexer } from "../indexing/file-indexer.ts";
import type { Limits } from "../limits/limits.ts";
import type { Turns } from "../limits/turns.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { SiteClock } from "./site-clock.ts";
import type { SiteMemory } from "./site-memory.ts";

/** Everything that the process of a self-hosted site has opened. */
export interface SiteDeps {
  readonly blobs: OpenedStore;
  /** What is recorded of the uploads that are open in a bucket; undefined: the objects are files. */
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
