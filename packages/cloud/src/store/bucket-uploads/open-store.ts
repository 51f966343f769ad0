import type { Logger } from "pino";
import { ConfigError } from "../../core/config-error.ts";
import type { Database } from "../../db/client.ts";
import type { Metrics } from "../../process/metrics/metrics.ts";
import type { BlobStore } from "../blobs/blob-store.ts";
import type { BucketCall } from "../blobs/buckets/bucket-call.ts";
import type { BucketStoreOptions } from "../blobs/buckets/bucket-store.ts";
import { type FileStoreOptions, openFileStore } from "../blobs/file-store.ts";
import { observeCalls } from "./observe-calls.ts";
import { type DistantAddress, nameStore, type StoreAddress, settingOf } from "./store-address.ts";
import { keepUploadRecords } from "./upload-records.ts";

/** A store to which parts may come through our own part route. */
export type OpenedStore = BlobStore & Required<Pick<BlobStore, "receivePart" | "receivePiece">>;

export interface StoreDeps extends Pick<FileStoreOptions, "signer" | "publicUrl" | "clock"> {
  readonly db: Pick<Database, "prisma">;
  /** Where calls to the bucket are counted. */
  readonly metrics?: Metrics;
}

export async function openStore(
  opened: AsyncDisposableStack,
  address: StoreAddress,
  { db, metrics, signer, publicUrl, clock }: StoreDeps,
): Promise<OpenedStore> {
  const common = { signer, publicUrl, clock };
  if (address.kind === "file") return await openFileStore({ ...common, directory: address.directory });
  const counted = metrics && { onCall: observeCalls(metrics) };
  const records = keepUploadRecords(db, nameStore(address));
  return await openDistantStore(opened, address, { ...common, ...counted, records });
}

type DistantOptions = BucketStoreOptions & { readonly onCall?: (call: BucketCall) => void };

/** Only a process that keeps objects in a bucket or a container loads its client. */
export async function openDistantStore(
  opened: AsyncDisposableStack,
  address: DistantAddress,
  options: DistantOptions,
): Promise<OpenedStore> {
  if (address.kind === "azure") {
    const { openAzureStore } = await import("../blobs/azure/azure-store.ts");
    return opened.use(openAzureStore({ ...options, ...address }));
  }
  const { openS3Store } = await import("../blobs/s3/s3-store.ts");
  return opened.use(openS3Store({ ...options, ...address }));
}

/** Throws a {@link ConfigError} that says what the store cannot do, or does not allow; what it should do better is logged. */
export async function requireUsable(address: StoreAddress, log: Pick<Logger, "warn">): Promise<void> {
  if (address.kind === "file") return;
  const faults = await probeStore(address);
  const { setting, name } = settingOf(address);
  if (faults.length > 0) throw new ConfigError(faults.map((fault) => `${setting}: ${name}: ${fault}`));
  if (address.kind === "azure") return;
  const { adviseLifecycle } = await import("../blobs/s3/advise-lifecycle.ts");
  const advice = await adviseLifecycle(address);
  if (advice !== undefined) log.warn({ bucket: name }, advice);
}

/** Returns what a bucket or container does not do as it must, one sentence each. */
export async function probeStore(address: DistantAddress): Promise<string[]> {
  if (address.kind === "azure") {
    const { probeContainer } = await import("../blobs/azure/probe-container.ts");
    return await probeContainer(address);
  }
  const { probeBucket } = await import("../blobs/s3/probe-bucket.ts");
  return await probeBucket(address);
}
