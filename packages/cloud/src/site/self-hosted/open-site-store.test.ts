import assert from "node:assert/strict";
import { test } from "node:test";
import { serveFileStore } from "../../store/blobs/testing/open-file-store.ts";
import { requireNoDeployment } from "./open-site-store.ts";
import { markStart } from "./site-store.ts";

test("a bucket or container in which a control plane keeps its objects is refused by name, and one of a site is not", async () => {
  await using served = await serveFileStore();
  const bucket = {
    kind: "s3",
    bucket: "robots",
    region: "us-east-1",
    prefix: "fleet/",
    forcePathStyle: true,
    isDirect: false,
  } as const;
  const container = { kind: "azure", account: "fleet", container: "robots", prefix: "" } as const;
  await markStart(served.store);
  await requireNoDeployment(served.store, bucket);
  await served.store.putNote("marks/0000000000000001-0123456789abcdef", Buffer.from("{}"));
  const refused = requireNoDeployment(served.store, bucket);
  await assert.rejects(refused, /DOWNLINK_S3_BUCKET: s3:\/\/robots\/fleet\/ is the store of a control plane/);
  const name = /DOWNLINK_AZURE_CONTAINER: azure:\/\/fleet\/robots\/ is the store .* use another container or prefix/;
  await assert.rejects(requireNoDeployment(served.store, container), name);
});
