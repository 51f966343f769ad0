import type { BlobStore } from "../blob-store.ts";

export interface StoreUnderTest extends AsyncDisposable {
  readonly store: BlobStore;
  /** The smallest size that the store takes for a part other than the last one. */
  readonly partSizeBytes: number;
}

/** The promises that every store keeps, as sentences, each with its test. */
export type Promises = Readonly<Record<string, (tested: StoreUnderTest) => Promise<void>>>;
