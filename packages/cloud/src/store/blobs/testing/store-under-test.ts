import type { BlobStore } from "../blob-store.ts";

export interface StoreUnderTest extends AsyncDisposable {
  readonly store: BlobStore;
  /** The smallest size that the store takes for a part other than the last one. */
  readonly partSizeBytes: number;
}

type Keep = (tested: StoreUnderTest) => Promise<void>;

/** The promises that every store keeps, as sentences, each with its test. Those that count all that a store has begin with an empty one. */
export type Promises = Readonly<Record<string, Keep | { readonly inEmptyStore: Keep }>>;
