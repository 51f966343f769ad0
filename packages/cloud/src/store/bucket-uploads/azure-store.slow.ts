import { after, test } from "node:test";
import { openDatabase } from "../../db/client.ts";
import { createTestDatabase } from "../../testing/test-database.ts";
import { describeBlobStore } from "../blobs/blob-store.suite.ts";
import { serveAzureStore } from "./testing/open-azure-store.ts";
import { runAzurite, whyNoAzurite } from "./testing/run-azurite.ts";

const skip = whyNoAzurite();

if (skip === undefined) {
  const stack = new AsyncDisposableStack();
  after(() => stack.disposeAsync());
  const azurite = stack.use(await runAzurite());
  const log = { warn: () => {} };
  const db = stack.use(openDatabase(await createTestDatabase({ after }), { maxConnections: 10, log }));
  const place = { azurite, container: await azurite.makeContainer(), db };
  describeBlobStore("Azure store", () => serveAzureStore(place));
} else test("the Azure store keeps what every store promises", { skip }, () => {});
