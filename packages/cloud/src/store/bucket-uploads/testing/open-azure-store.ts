import { randomBytes } from "node:crypto";
import type { Database } from "../../../db/client.ts";
import { type AzureStore, type AzureStoreOptions, openAzureStore } from "../../blobs/azure/azure-store.ts";
import { testClock, testSigner } from "../../blobs/testing/open-file-store.ts";
import { serveParts } from "../../blobs/testing/serve-parts.ts";
import type { StoreUnderTest } from "../../blobs/testing/store-under-test.ts";
import { keepUploadRecords } from "../upload-records.ts";
import type { Azurite } from "./run-azurite.ts";

const PART_BYTES = 64 * 1024;

export interface ServedAzureStore extends StoreUnderTest {
  readonly store: AzureStore;
}

interface Place {
  readonly azurite: Azurite;
  readonly container: string;
  readonly db: Database;
}

/** Serves a store below a new prefix of a container, with its part routes on a free port. */
export async function serveAzureStore(
  { azurite, container, db }: Place,
  options: Partial<AzureStoreOptions> = {},
): Promise<ServedAzureStore> {
  await using stack = new AsyncDisposableStack();
  let url = "";
  const base = { signer: testSigner, clock: testClock, publicUrl: () => url };
  const { account, endpoint, accountKey } = azurite;
  const store = stack.use(
    openAzureStore({
      ...base,
      ...{ account, endpoint, container, credential: { accountKey } },
      ...{ prefix: `${randomBytes(6).toString("hex")}/`, records: keepUploadRecords(db, "a container") },
      ...options,
    }),
  );
  const served = stack.use(await serveParts({ ...base, blobs: store }));
  url = served.url;
  const opened = stack.move();
  return { store, partSizeBytes: PART_BYTES, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}
