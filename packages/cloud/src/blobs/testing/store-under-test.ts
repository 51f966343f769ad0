import type { BlobStore } from "../blob-store.ts";

export interface StoreUnderTest extends AsyncDisposable {
  readonly store: BlobStore;
  /** The smallest part that the store takes before the last one. */
  readonly partSizeBytes: number;
}

/** What every store promises, in sentences, each with its test. */
export type Promises = Readonly<Record<string, (tested: StoreUnderTest) => Promise<void>>>;
