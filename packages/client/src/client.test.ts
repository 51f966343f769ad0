import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { api } from "@downlink/protocol";
import { createClient } from "./client.ts";
import { ApiCallError, NetworkError } from "./errors.ts";
import { fetchTransport } from "./fetch-transport.ts";
import { answerJson, readBody, serve } from "./testing.ts";
import { type UndiciTransport, undiciTransport } from "./undici-transport.ts";

const settings = { enabled: true, retainRecordingsSeconds: 0, autoDeleteAfterImport: false };

for (const [name, open] of [
  ["undici", undiciTransport],
  ["fetch", () => Object.assign(fetchTransport(), { async [Symbol.asyncDispose]() {} })],
] as const) {
  test(`${name}: parameters, body and token reach the server encoded, and the answer comes back decoded`, async () => {
    const seen: unknown[] = [];
    await using server = await serve(async (request, response) => {
      seen.push(request.method, request.url, request.headers.authorization, request.headers["downlink-lease"]);
      seen.push(JSON.parse((await readBody(request)).toString()));
      answerJson(response, 200, { uploadId: "u", partSize: 5, isStored: false, parts: [], more: 1 });
    });
    await using transport = open();
    const client = createClient({ baseUrl: `${server.url}/base/`, token: "secret", transport });
    const input = { requestId: "a/b #1", versionId: "v".repeat(16), size: 3, modifiedAt: 1_000_000_001n };
    const answer = await client.call(api.edge.openUpload, input, { headers: { "downlink-lease": "7" } });
    assert.deepEqual(answer, { uploadId: "u", partSize: 5, isStored: false, parts: [] });
    assert.deepEqual(seen, [
      "POST",
      "/base/v1/edge/imports/a%2Fb%20%231/upload",
      "Bearer secret",
      "7",
      { versionId: "v".repeat(16), size: 3, modifiedAt: "1970-01-01T00:00:01.000000001Z" },
    ]);
  });

  test(`${name}: the cursors of a list are returned if the operation declares them`, async () => {
    await using server = await serve((_request, response) => {
      response.setHeader("X-Pagination-Next-Cursor", "onward");
      response.setHeader("x-other", "not declared");
      answerJson(response, 200, { episodes: [] });
    });
    await using transport = open();
    const client = createClient({ baseUrl: server.url, transport });
    const { output, headers } = await client.callWithHeaders(api.episodes.list, { limit: 1 });
    assert.deepEqual([output, headers], [{ episodes: [] }, { "x-pagination-next-cursor": "onward" }]);
  });

  test(`${name}: a refused connection is a network failure that names the host`, async () => {
    const server = await serve(() => {});
    await server[Symbol.asyncDispose]();
    await using transport = open();
    const failure = await failureOf(createClient({ baseUrl: server.url, transport }).call(api.edge.work, {}));
    assert.ok(failure instanceof NetworkError);
    assert.match(failure.message, /cannot reach 127\.0\.0\.1:\d+/);
  });
}

test("arrays in a query are repeated, and values with a default may be left out", async () => {
  let url = "";
  await using server = await serve((request, response) => {
    url = request.url ?? "";
    answerJson(response, 200, []);
  });
  await using transport = undiciTransport();
  await createClient({ baseUrl: server.url, transport }).call(api.edgeFiles.list, {
    state: ["damaged", "empty"],
    limit: 3,
  });
  assert.equal(url, "/v1/edge-files?state=damaged&state=empty&limit=3");
});

test("an error body becomes an ApiCallError with code, details, request id and the time to wait", async () => {
  const error = { error: "no", code: "RateLimited", details: [{ path: "a", message: "b" }] };
  const failure = await failureOfAnswer((response) => {
    response.setHeader("retry-after", "7");
    answerJson(response, 429, error);
  });
  assert.ok(failure instanceof ApiCallError);
  const { status, code, requestId, details, retryAfterMs, message } = failure;
  assert.deepEqual(
    { status, code, requestId, details, retryAfterMs, message },
    { status: 429, code: "RateLimited", requestId: "r-1", details: error.details, retryAfterMs: 7000, message: "no" },
  );
});

for (const status of [200, 302, 403, 503]) {
  test(`a page of HTML with status ${status} is an ApiCallError without a code that says so`, async () => {
    const failure = await failureOfAnswer((response) => {
      response
        .writeHead(status, { "content-type": "text/html", location: "/login" })
        .end("<h1>Log in to the hotel</h1>");
    });
    assert.ok(failure instanceof ApiCallError);
    assert.equal(failure.code, undefined);
    assert.match(failure.message, /not from a Downlink server/);
  });
}

test("an answer that breaks the contract is an ApiCallError that names the place", async () => {
  const failure = await failureOfAnswer((response) =>
    answerJson(response, 200, { etag: 5, work: { imports: [], settings } }),
  );
  assert.ok(failure instanceof ApiCallError);
  assert.match(failure.message, /contract at etag/);
});

test("a half answer is a network failure", async () => {
  const failure = await failureOfAnswer((response) => {
    response.writeHead(200, { "content-type": "application/json", "content-length": "100" });
    response.write("{");
    response.socket?.end();
  });
  assert.ok(failure instanceof NetworkError);
});

test("a call without an answer ends after its timeout, and an aborted one with the signal's reason", async () => {
  await using server = await serve(() => {});
  await using transport = undiciTransport();
  const client = createClient({ baseUrl: server.url, transport });
  const failure = await failureOf(client.call(api.edge.work, {}, { timeoutMs: 20 }));
  assert.ok(failure instanceof NetworkError && /no answer within/.test(failure.message));
  const stop = new AbortController();
  const reason = new Error("stopped");
  setImmediate(() => stop.abort(reason));
  assert.equal(await failureOf(client.call(api.edge.work, {}, { signal: stop.signal })), reason);
});

test("retries repeat reads after 500 and changes only when they were refused", async () => {
  let calls = 0;
  let status = 500;
  await using server = await serve((_, response) => {
    calls++;
    response.setHeader("retry-after", "0");
    answerJson(response, status, { error: "x", code: "Internal" });
  });
  await using transport = undiciTransport();
  const client = createClient({ baseUrl: server.url, transport, retries: 1 });
  const change = { requestId: "r", uploadId: "u", parts: [], sha256: "0".repeat(64) };
  assert.ok((await failureOf(client.call(api.edge.work, {}))) instanceof ApiCallError);
  assert.equal(calls, 2);
  assert.ok((await failureOf(client.call(api.edge.completeUpload, change))) instanceof ApiCallError);
  assert.equal(calls, 3);
  status = 503;
  assert.ok((await failureOf(client.call(api.edge.completeUpload, change))) instanceof ApiCallError);
  assert.equal(calls, 5);
});

test("a call that creates something is sent with one key for all its tries, and so may be repeated after a lost answer", async () => {
  const keys: unknown[] = [];
  await using server = await serve((request, response) => {
    keys.push(request.headers["idempotency-key"]);
    if (keys.length === 1) return void request.socket.destroy();
    if (keys.length === 2) response.setHeader("retry-after", "0");
    const code = keys.length === 2 ? "IdempotencyConflict" : "NameTaken";
    answerJson(response, 409, { error: "x", code });
  });
  await using transport = undiciTransport();
  const client = createClient({ baseUrl: server.url, transport, retries: 3 });
  const failure = await failureOf(client.call(api.devices.create, { name: "robot" }));
  assert.ok(failure instanceof ApiCallError && failure.code === "NameTaken");
  assert.match(String(keys[0]), /^[0-9a-f]{32}$/);
  assert.deepEqual(keys, [keys[0], keys[0], keys[0]]);
  await failureOf(client.call(api.devices.create, { name: "robot" }));
  assert.notEqual(keys[3], keys[0]);
  await failureOf(createClient({ baseUrl: server.url, transport }).call(api.devices.create, { name: "robot" }));
  assert.equal(keys[4], undefined, "who never repeats needs none");
});

async function failureOfAnswer(answer: (response: Parameters<typeof answerJson>[0]) => void): Promise<unknown> {
  await using server = await serve((_, response) => answer(response));
  await using transport: UndiciTransport = undiciTransport();
  return await failureOf(createClient({ baseUrl: server.url, transport }).call(api.edge.work, {}));
}

async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return await promise.then(
    () => assert.fail("expected a failure"),
    (error: unknown) => error,
  );
}

test("a long list that breaks the contract is reported by its first wrong place only", async () => {
  const work = (imports: unknown) => ({ etag: "e", work: { imports, salvages: [], settings } });
  const bodies = [work(Array(95_000).fill({})), work([]), [{ ...work([]), etag: 1 }], work(Array(50).fill({}))];
  await using server = await serve((_request, response) => answerJson(response, 200, bodies.shift()));
  await using transport = undiciTransport();
  const client = createClient({ baseUrl: server.url, transport });
  const before = process.resourceUsage().maxRSS;
  await assert.rejects(client.call(api.edge.work, {}), /does not follow the contract at work\.imports\.0\.requestId/);
  const grownKb = process.resourceUsage().maxRSS - before;
  assert.ok(grownKb < 200_000, `${grownKb} kB to refuse 300 kB`);
  assert.deepEqual((await client.call(api.edge.work, {})).work.imports, []);
  await assert.rejects(client.call(api.edge.work, {}), /does not follow the contract at its root/);
  await assert.rejects(client.call(api.edge.work, {}), /does not follow the contract at work\.imports\.0\.requestId/);
});

const limits = { bytes: 1000, depth: 4, containers: 20 };
const tooMuch: [string, string, RegExp][] = [
  ["too long", JSON.stringify({ text: "x".repeat(1000) }), /is longer than 1000 bytes/],
  ["too deep", "[".repeat(5), /is nested deeper than 4 levels/],
  ["too deep behind other things", `{"a":["]]]]",${'"\\"[",'.repeat(5)}[[[`, /is nested deeper than 4 levels/],
  ["of too many parts", `[${"{},".repeat(30)}{}]`, /holds more than 20 objects and arrays/],
];

for (const [name, body, reason] of tooMuch) {
  test(`an answer that is ${name} is refused before it is whole, like a foreign answer, on success and on failure`, async () => {
    for (const status of [200, 500]) {
      const closed = Promise.withResolvers<void>();
      await using server = await serve((_request, response) => {
        response.writeHead(status, { "content-type": "application/json" }).write(body); // the answer never ends
        response.on("close", closed.resolve);
      });
      await using transport = undiciTransport({ limits });
      const call = createClient({ baseUrl: server.url, transport }).call(api.devices.list, {});
      await assert.rejects(call, (failure: ApiCallError) => reason.test(failure.message) && failure.code === undefined);
      await closed.promise;
    }
  });
}

test("brackets in texts do not count as nesting, wherever the network splits the answer", async () => {
  const text = '\\"[[[[[[{{{{{{\\\\';
  await using server = await serve(async (_request, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    for (const byte of Buffer.from(JSON.stringify({ error: text, code: text, episodes: [] })))
      response.write(Buffer.of(byte));
    response.end();
  });
  await using transport = undiciTransport({ limits });
  assert.deepEqual(await createClient({ baseUrl: server.url, transport }).call(api.episodes.list, {}), {
    episodes: [],
  });
});

test("no compression is requested, and none is accepted", async () => {
  const asked: unknown[] = [];
  await using server = await serve((request, response) => {
    asked.push(request.headers["accept-encoding"]);
    const packed = gzipSync(JSON.stringify(Array(50_000).fill("x".repeat(100))));
    response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" }).end(packed);
  });
  await using transport = undiciTransport();
  const call = createClient({ baseUrl: server.url, transport }).call(api.devices.list, {});
  await assert.rejects(call, /the answer is encoded as gzip, which nobody asked for/);
  assert.deepEqual(asked, ["identity"]);
});
