import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { BlobNotFoundError, BlobReplacedError } from "../blob-errors.ts";
import { BucketUnavailableError } from "../buckets/bucket-unavailable.ts";
import { connectContainer } from "./container.ts";
import { connectCustomerContainer } from "./customer-container.ts";

// Behaviour that Azure has and Azurite lacks is tested with a server that answers as Azure is documented to.

type Answer = (
  request: IncomingMessage,
  url: URL,
) => { status?: number; headers?: Readonly<Record<string, string | undefined>>; body?: string };

const credential = { accountKey: Buffer.from("a key of a storage account").toString("base64") };

async function serve(t: TestContext, answer: Answer) {
  const calls: IncomingMessage[] = [];
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    calls.push(request);
    const { status = 200, headers = {}, body = "" } = answer(request, new URL(request.url!, "http://localhost"));
    response.writeHead(status, { "last-modified": "Mon, 23 Nov 2026 10:00:00 GMT", ...headers }).end(body);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close().closeAllConnections());
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}/plant`;
  const place = { azureStorageAccountName: "plant", bucket: "robots", prefix: "runs/", endpoint };
  const bucket = connectCustomerContainer(place, { credential });
  t.after(() => bucket[Symbol.dispose]());
  return { bucket, calls, endpoint };
}

const blobXml = (name: string) =>
  `<Blob><Name>${name}</Name><Properties><Last-Modified>Mon, 23 Nov 2026 10:00:00 GMT</Last-Modified>` +
  `<Etag>0x1</Etag><Content-Length>5</Content-Length><BlobType>BlockBlob</BlobType></Properties></Blob>`;

/** Answers a listing page by page; the marker is the number of the page. */
function listing(pages: readonly (readonly string[])[]): Answer {
  return (_request, { searchParams }) => {
    const at = Number(searchParams.get("marker") ?? 0);
    const next = at + 1 < pages.length ? String(at + 1) : "";
    const blobs = pages[at]!.map(blobXml).join("");
    const body =
      `<?xml version="1.0" encoding="utf-8"?><EnumerationResults ServiceEndpoint="http://x/" ContainerName="robots">` +
      `<Blobs>${blobs}</Blobs><NextMarker>${next}</NextMarker></EnumerationResults>`;
    return { headers: { "content-type": "application/xml" }, body };
  };
}

test("names are listed in the order of their bytes, although Azure has others, behind a name and over empty pages", async (t) => {
  const robot = "runs/\u{1f916}.mcap"; // Azure lists it before what is behind U+E000, and UTF-8 has it after that
  const fullWidth = "runs/\uff21.mcap";
  const { bucket, calls } = await serve(
    t,
    listing([["runs/a/1.mcap", "runs/a/2.mcap"], [], ["runs/a-b.mcap", robot], [fullWidth]]),
  );
  const all = (await Array.fromAsync(bucket.list(""))).flat();
  const inOrder = ["runs/a-b.mcap", "runs/a/1.mcap", "runs/a/2.mcap", fullWidth, robot];
  assert.deepEqual(
    all.map(({ name }) => name),
    inOrder,
  );
  assert.equal(new URL(calls[0]!.url!, "http://localhost").searchParams.get("prefix"), "runs/");
  assert.deepEqual([all[0]!.etag, all[0]!.sizeBytes], ['"0x1"', 5n], "the tag as it is in all other answers");
  for (const name of inOrder) {
    const again = (await Array.fromAsync(bucket.list(name))).flat();
    assert.deepEqual(
      again.map((one) => one.name),
      inOrder,
      "what was not listed yet may stand before the name that was last",
    );
  }
});

test("an object with a version is read by its version, and any other one only if its tag is the same", async (t) => {
  let version: string | undefined = "2026-11-23T10:00:00.0000000Z";
  const { bucket, calls } = await serve(t, ({ method }) => ({
    status: method === "GET" ? 206 : 200,
    headers: {
      etag: '"0x1"',
      "content-length": "5",
      "content-range": "bytes 0-4/5",
      "x-ms-meta-deviceId": "dev_1",
      ...(version !== undefined && { "x-ms-version-id": version }),
    },
    body: method === "GET" ? "hello" : "",
  }));
  const read = async () => {
    const found = (await bucket.find("runs/a b.mcap"))!;
    const bytes = await bucket.open("org/obj", "runs/a b.mcap", found).read(0, 5);
    const { url, headers } = calls.at(-1)!;
    return { found, text: Buffer.from(bytes).toString(), url: new URL(url!, "http://localhost"), headers };
  };
  const versioned = await read();
  assert.deepEqual([versioned.found.versionId, versioned.found.metadata], [version, { deviceid: "dev_1" }]);
  assert.equal(versioned.text, "hello");
  assert.equal(versioned.url.searchParams.get("versionid"), version);
  version = undefined;
  const plain = await read();
  assert.equal(plain.found.versionId, null);
  assert.equal(plain.url.pathname, "/plant/robots/runs/a%20b.mcap");
  assert.equal(plain.url.searchParams.get("versionid"), null);
  assert.equal(plain.headers["if-match"], '"0x1"');
  assert.equal(plain.headers["x-ms-range"], "bytes=0-4");
});

test("only the container's own word that there is no such blob counts as that", async (t) => {
  let answer: { status: number; code?: string } = { status: 404, code: "BlobNotFound" };
  const { bucket } = await serve(t, () => ({
    status: answer.status,
    headers: { ...(answer.code !== undefined && { "x-ms-error-code": answer.code }) },
  }));
  const identity = { versionId: null, etag: '"0x1"', sizeBytes: 5n };
  const read = () => bucket.open("org/obj", "runs/a.mcap", identity).read(0, 5);
  assert.equal(await bucket.find("runs/a.mcap"), undefined);
  await assert.rejects(read(), BlobNotFoundError);
  for (answer of [
    { status: 404 },
    { status: 404, code: "ContainerNotFound" },
    { status: 403, code: "AuthenticationFailed" },
    { status: 409, code: "BlobArchived" },
    { status: 400, code: "InvalidResourceName" },
  ]) {
    await assert.rejects(bucket.find("runs/a.mcap"), BucketUnavailableError, JSON.stringify(answer));
    await assert.rejects(read(), BucketUnavailableError, JSON.stringify(answer));
    await assert.rejects(bucket.check(), BucketUnavailableError, JSON.stringify(answer));
  }
});

test("a blob with another tag, or that is shorter now, was replaced", async (t) => {
  let code = "ConditionNotMet";
  const { bucket } = await serve(t, ({ method }) =>
    method === "HEAD"
      ? { headers: { etag: '"0x2"', "content-length": "3" } }
      : { status: code === "ConditionNotMet" ? 412 : 416, headers: { "x-ms-error-code": code } },
  );
  const identity = { versionId: null, etag: '"0x1"', sizeBytes: 5n };
  for (code of ["ConditionNotMet", "InvalidRange"])
    await assert.rejects(bucket.open("org/obj", "runs/a.mcap", identity).read(0, 5), BlobReplacedError);
});

test("a name whose URL would lead out of the container is no blob, and nobody asks for it", async (t) => {
  const { bucket, calls } = await serve(t, () => ({ headers: { etag: '"0x1"', "content-length": "5" } }));
  const identity = { versionId: null, etag: '"0x1"', sizeBytes: 5n };
  for (const name of ["runs/../../secrets/a.mcap", "runs/./a.mcap", "..", "runs/.."]) {
    assert.equal(await bucket.find(name), undefined, name);
    await assert.rejects(bucket.open("org/obj", name, identity).read(0, 5), BlobNotFoundError);
  }
  assert.equal(calls.length, 0);
  assert.ok(await bucket.find("runs/%2e%2e/..a/b..mcap"), "other dots are part of a name");
  assert.equal(calls[0]!.url, "/plant/robots/runs/%252e%252e/..a/b..mcap");
});

test("nothing but GET and HEAD is sent to such a container", async (t) => {
  const { calls, endpoint } = await serve(t, () => ({}));
  const place = { account: "plant", container: "robots", prefix: "", endpoint, credential };
  using container = connectContainer({ ...place, isReadOnly: true });
  const blob = container.blob("a.mcap");
  for (const write of [
    () => blob.upload("x", 1),
    () => blob.delete(),
    () => blob.setMetadata({ a: "b" }),
    () => blob.stageBlock("AAAA", "x", 1),
    () => container.client.delete(),
  ])
    await assert.rejects(write(), /is not sent to this container/);
  assert.deepEqual(calls, []);
});
