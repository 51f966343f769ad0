import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { probeBucket } from "./probe-bucket.ts";

/** Starts a bucket that refuses each call with this code. */
async function startRefusing(t: TestContext, code: string) {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(403, { "content-type": "application/xml" });
    response.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>no</Message></Error>`);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const credentials = { accessKeyId: "a", secretAccessKey: "b" };
  return { bucket: "b", prefix: "", region: "us-east-1", endpoint, forcePathStyle: true, credentials };
}

for (const code of ["InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken"])
  test(`a bucket that answers ${code} is called one with wrong credentials, once, whatever else is refused`, async (t) => {
    const options = await startRefusing(t, code);
    const fault = `the bucket refuses the credentials (403 ${code}): the access key or its secret is wrong or has expired`;
    assert.deepEqual(await probeBucket(options), [fault]);
  });

test("a bucket that denies each call to credentials that it knows names each permission", async (t) => {
  const options = await startRefusing(t, "AccessDenied");
  const faults = await probeBucket(options);
  assert.ok(faults.length > 5);
  assert.ok(faults.every((fault) => /needs s3:/.test(fault)));
});
