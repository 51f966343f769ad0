import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { Readable } from "node:stream";
import { test } from "node:test";
import { request } from "undici";
import { ApiError } from "../../core/errors.ts";
import { serveRoutes } from "../data-plane/testing/serve-routes.ts";
import { type StreamOptions, streamBody } from "./stream-response.ts";

const PIECE = Buffer.alloc(100_000, "x");

test("a streamed answer is every piece in order, with its own headers and those of the middleware", async () => {
  await using served = await serveStream(() => count(300));
  const answer = await request(served.url);
  assert.equal(answer.headers["content-type"], "application/octet-stream");
  assert.equal(answer.headers["x-request-id"], "test");
  assert.equal(await answer.body.text(), Array.from({ length: 300 }, (_, number) => `${number}\n`).join(""));
  assert.deepEqual(served.failures, []);
});

test("a streamed answer keeps the connection for the next request", async () => {
  await using served = await serveStream(() => count(3));
  const socket = await openSocket(served.url);
  for (let round = 0; round < 3; round++) {
    socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    let text = "";
    while (!text.includes("\r\n0\r\n\r\n")) text += String((await once(socket, "data"))[0]);
  }
  socket.destroy();
});

test("the memory of a piece may be given back once it was sent, however slowly the receiver reads", async () => {
  const pieces = Array.from({ length: 60 }, (_, number) => Buffer.allocUnsafeSlow(70_000).fill(number));
  const expected = Buffer.concat(pieces);
  let sentBytes = 0;
  const onSent = (piece: Uint8Array) => {
    sentBytes += piece.byteLength;
    (piece.buffer as ArrayBuffer).transfer(0);
  };
  await using served = await serveStream(() => Readable.from(pieces), { onSent });
  const { body } = await request(served.url);
  const received: Buffer[] = [];
  for await (const piece of body) {
    received.push(piece as Buffer);
    await new Promise(setImmediate);
  }
  assert.ok(Buffer.concat(received).equals(expected));
  assert.equal(sentBytes, expected.byteLength);
});

test("a streamed answer of HEAD does not begin the work", async () => {
  let isBegun = false;
  await using served = await serveStream(async function* () {
    isBegun = true;
    yield PIECE;
  });
  const answer = await request(served.url, { method: "HEAD" });
  assert.equal(answer.statusCode, 200);
  assert.equal(answer.headers["content-type"], "application/octet-stream");
  assert.equal(answer.headers["content-length"], undefined);
  assert.equal(isBegun, false);
});

test("a streamed answer without a piece is an empty body", async () => {
  await using served = await serveStream(() => count(0));
  assert.equal(await (await request(served.url)).body.text(), "");
});

test("a streamed answer that fails before its first piece is an error with its status", async () => {
  await using served = await serveStream(async function* () {
    throw new ApiError("NoStreamableRecordings", "nothing to stream");
    // biome-ignore lint/correctness/noUnreachable: makes it a generator of bytes
    yield PIECE;
  });
  const answer = await request(served.url);
  assert.equal(answer.statusCode, 404);
  assert.equal(((await answer.body.json()) as { code: string }).code, "NoStreamableRecordings");
});

test("a streamed answer that fails in mid-stream breaks the connection off, so that it never looks whole, and logs the reason on the server", async () => {
  await using served = await serveStream(async function* () {
    yield PIECE;
    throw new Error("disk died");
  });
  const answer = await request(served.url);
  assert.equal(answer.statusCode, 200);
  await assert.rejects(answer.body.text());
  assert.deepEqual(served.failures.map(String), ["Error: disk died"]);
});

test("a streamed answer is made no faster than it is received", async () => {
  let madeBytes = 0;
  await using served = await serveStream(async function* () {
    for (; madeBytes < 500e6; madeBytes += PIECE.byteLength) yield PIECE;
  });
  const socket = await openSocket(served.url);
  socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  await once(socket, "data");
  socket.pause();
  await untilSteady(() => madeBytes);
  assert(madeBytes < 50e6, `${madeBytes} bytes were made for a receiver that takes none`);
  socket.destroy();
});

for (const { state, source } of [
  { state: "while bytes wait for it", source: endless },
  { state: "while it waits for bytes", source: onceThenNothing },
  { state: "before the first piece", source: nothing },
])
  test(`a streamed answer stops the work when the receiver goes away ${state}`, async () => {
    const controller = new AbortController();
    const begun = Promise.withResolvers<void>();
    await using served = await serveStream(
      () => {
        begun.resolve();
        return source();
      },
      { controller },
    );
    const socket = await openSocket(served.url);
    socket.pause();
    socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    await begun.promise;
    const aborted = once(controller.signal, "abort");
    socket.destroy();
    await aborted;
    assert.deepEqual(served.failures, []);
  });

test("a streamed answer closes its source when the receiver goes away", async () => {
  const closed = Promise.withResolvers<void>();
  await using served = await serveStream(async function* () {
    try {
      yield* endless();
    } finally {
      closed.resolve();
    }
  });
  const socket = await openSocket(served.url);
  socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  await once(socket, "data");
  socket.destroy();
  await closed.promise;
});

test("a streamed answer is broken off when its receiver accepts nothing for too long", async () => {
  const controller = new AbortController();
  await using served = await serveStream(endless, { controller, stallMs: 50 });
  const socket = await openSocket(served.url);
  socket.pause();
  socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  await once(controller.signal, "abort");
  socket.destroy();
});

test("a streamed answer that the server itself aborts is a failure and breaks off", async () => {
  const controller = new AbortController();
  await using served = await serveStream(onceThenNothing, { controller });
  const answer = await request(served.url);
  controller.abort(new Error("shutting down"));
  await assert.rejects(answer.body.text());
  assert.deepEqual(served.failures.map(String), ["Error: shutting down"]);
});

async function serveStream(source: () => AsyncIterable<Uint8Array>, options: Partial<StreamOptions> = {}) {
  const failures: unknown[] = [];
  const headers = { "Content-Type": "application/octet-stream" };
  const served = await serveRoutes((app) =>
    app.get("/", (c) => streamBody(c, source(), { headers, onFailure: (error) => failures.push(error), ...options })),
  );
  return { ...served, failures };
}

async function* count(end: number): AsyncGenerator<Uint8Array, void> {
  for (let number = 0; number < end; number++) yield Buffer.from(`${number}\n`);
}

async function* endless(): AsyncGenerator<Uint8Array, void> {
  for (;;) yield PIECE;
}

async function* onceThenNothing(): AsyncGenerator<Uint8Array, void> {
  yield PIECE;
  await new Promise(() => {});
}

async function* nothing(): AsyncGenerator<Uint8Array, void> {
  await new Promise(() => {});
}

async function openSocket(url: string) {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, "connect");
  return socket;
}

/** Waits until a count stays the same over many turns of the event loop, in which sockets are written to. */
async function untilSteady(read: () => number): Promise<void> {
  for (let last = -1, turns = 0; turns < 2000; turns++) {
    await new Promise((next) => setImmediate(next));
    if (read() === last) continue;
    last = read();
    turns = 0;
  }
}
