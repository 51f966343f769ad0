import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { ApiCallError, NetworkError } from "./errors.ts";
import { putStream } from "./put-stream.ts";
import { answerJson, readBody, serve } from "./testing.ts";

const chunk = Buffer.alloc(64 * 1024, 7);

test("a body of known length arrives whole, and progress adds up to it", async () => {
  let length: string | undefined;
  let received = 0;
  await using server = await serve(async (request, response) => {
    length = request.headers["content-length"];
    received = (await readBody(request)).length;
    response.setHeader("etag", '"x"').end();
  });
  let sentBytes = 0;
  const onProgress = (bytes: number) => {
    sentBytes += bytes;
  };
  const body = Array.from({ length: 32 }, () => chunk);
  const result = await putStream(server.url, { body, length: 32 * chunk.length, onProgress });
  assert.deepEqual([length, received, sentBytes], [String(32 * chunk.length), 32 * chunk.length, 32 * chunk.length]);
  assert.deepEqual([result.status, result.headers.get("etag")], [200, '"x"']);
});

test("a body without a length is sent chunked", async () => {
  let encoding: string | undefined;
  await using server = await serve(async (request, response) => {
    encoding = request.headers["transfer-encoding"];
    response.end(String((await readBody(request)).length));
  });
  await putStream(server.url, { body: [chunk] });
  assert.equal(encoding, "chunked");
});

test("a refusal in the middle of the body is an ApiCallError with its code", async () => {
  await using server = await serve((request, response) => {
    request.once("data", () => answerJson(response, 507, { error: "full", code: "StorageFull" }));
  });
  const failure = await failureOf(putStream(server.url, { body: endless() }));
  assert.ok(failure instanceof ApiCallError, String(failure));
  assert.deepEqual([failure.status, failure.code], [507, "StorageFull"]);
});

test("a transfer that stands still is given up, and one that moves slowly is not", async () => {
  await using server = await serve((request, response) => {
    if (request.url === "/slow") request.resume().once("end", () => response.end());
  });
  const stalled = await failureOf(putStream(`${server.url}/dead`, { body: endless(), stallTimeoutMs: 60 }));
  assert.ok(stalled instanceof NetworkError && /no progress/.test(stalled.message), String(stalled));
  async function* drip() {
    for (let n = 0; n < 6; n++) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      yield chunk;
    }
  }
  await putStream(`${server.url}/slow`, { body: drip(), stallTimeoutMs: 1000 });
});

test("a cut connection is a network failure; a body that cannot be read throws its own error; an abort throws its reason", async () => {
  await using server = await serve((request) => {
    if (request.url === "/cut") request.once("data", () => request.socket.destroy());
  });
  assert.ok((await failureOf(putStream(`${server.url}/cut`, { body: endless() }))) instanceof NetworkError);
  const broken = new Error("disk");
  async function* breaks(): AsyncGenerator<Buffer> {
    yield chunk;
    throw broken;
  }
  assert.equal(await failureOf(putStream(server.url, { body: breaks(), length: 2 * chunk.length })), broken);
  const stop = new AbortController();
  const put = failureOf(putStream(server.url, { body: endless(), signal: stop.signal }));
  stop.abort(broken);
  assert.equal(await put, broken);
});

test("the rest of a given-up body is closed", async () => {
  await using server = await serve((request) => {
    request.once("data", () => request.socket.destroy());
  });
  const closed = new AbortController();
  async function* file() {
    try {
      yield* endless();
    } finally {
      closed.abort();
    }
  }
  const isClosed = once(closed.signal, "abort");
  await failureOf(putStream(server.url, { body: file() }));
  await isClosed;
});

async function* endless(): AsyncGenerator<Buffer> {
  for (;;) {
    await new Promise((resolve) => setImmediate(resolve));
    yield chunk;
  }
}

async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return await promise.then(
    () => assert.fail("expected a failure"),
    (error: unknown) => error,
  );
}
