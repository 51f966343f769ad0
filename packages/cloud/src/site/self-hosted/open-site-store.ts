import type { Logger } from "pino";
import { ConfigError } from "../../core/config-error.ts";
import type { Metrics } from "../../process/metrics/metrics.ts";
import { type FileStoreOptions, openFileStore } from "../../store/blobs/file-store.ts";
import { type LocalUploadRecords, openLocalRecords } from "../../store/bucket-uploads/local-upload-records.ts";
import { observeCalls } from "../../store/bucket-uploads/observe-calls.ts";
import { type OpenedStore, openDistantStore } from "../../store/bucket-uploads/open-store.ts";
import {
  addressOf,
  type DistantAddress,
  nameStore,
  type StoreAddress,
  type StoreSettings,
  settingOf,
} from "../../store/bucket-uploads/store-address.ts";

interface Opening extends Pick<FileStoreOptions, "signer" | "publicUrl" | "clock"> {
  /** The folder of the process, in which the records of a bucket or container are. */
  readonly dataDir: string;
  readonly metrics: Metrics;
  readonly log: Pick<Logger, "warn">;
}

interface SiteStore {
  readonly kind: StoreAddress["kind"];
  readonly blobs: OpenedStore;
  /** The records of the uploads that are open in a bucket or container; undefined: the objects are files. */
  readonly uploadRecords?: LocalUploadRecords;
}

/** Opens the store in which a site keeps its objects. */
export async function openSiteStore(
  opened: AsyncDisposableStack,
  settings: StoreSettings,
  { dataDir, metrics, log, ...common }: Opening,
): Promise<SiteStore> {
  const address = addressOf(settings);
  const { kind } = address;
  if (kind === "file") return { kind, blobs: await openFileStore({ ...common, directory: address.directory }) };
  const uploadRecords = opened.use(openLocalRecords(dataDir, log));
  const options = { ...common, records: uploadRecords, onCall: observeCalls(metrics) };
  const blobs = await openDistantStore(opened, address, options);
  await requireNoDeployment(blobs, address);
  return { kind, blobs, uploadRecords };
}

/** The control plane marks its store, and removes what it does not know there. */
export async function requireNoDeployment(
  blobs: Pick<OpenedStore, "listNotes">,
  address: DistantAddress,
): Promise<void> {
  for await (const _ of blobs.listNotes("marks/")) {
    const { setting, noun } = settingOf(address);
    throw new ConfigError([
      `${setting}: ${nameStore(address)} is the store of a control plane; use another ${noun} or prefix`,
    ]);
  }
}
