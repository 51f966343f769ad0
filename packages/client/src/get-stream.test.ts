import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiCallError, NetworkError } from "./errors.ts";
import { type GetOptions, getStream } from "./get-stream.ts";
import { answerJson, serve } from "./testing.ts";

const chunk = Buffer.alloc(64 * 1024, 7);

test("an answer arrives whole", async () => {
  await using server = await serve((_request, response) => {
    for (let n = 0; n < 8; n++) response.write(chunk);
    response.end("end");
  });
  assert.deepEqual(
    await read(server.url),
    Buffer.concat([...Array.from({ length: 8 }, () => chunk), Buffer.from("end")]),
  );
});

test("an answer that is cut is no whole one, with and without a length", async () => {
  await using server = await serve((request, response) => {
    if (request.url === "/length") response.setHeader("content-length", chunk.length * 2);
    response.write(chunk, () => response.destroy());
  });
  for (const path of ["/length", "/chunked"]) {
    const failure = await failureOf(read(server.url + path));
    assert.ok(failure instanceof NetworkError, String(failure));
  }
});

test("a refusal is an ApiCallError with its code", async () => {
  await using server = await serve((_request, response) => answerJson(response, 410, { error: "over", code: "Gone" }));
  const failure = await failureOf(read(server.url));
  assert.ok(failure instanceof ApiCallError && failure.code === "Gone", String(failure));
});

test("a transfer that stands still is given up, also before its first byte; a slow reader is no stall", async () => {
  await using server = await serve((request, response) => {
    if (request.url === "/mute") return;
    response.write(chunk);
    if (request.url === "/whole") response.end();
  });
  for (const path of ["/mute", "/dead"]) {
    const failure = await failureOf(read(server.url + path, { stallTimeoutMs: 60 }));
    assert.ok(failure instanceof NetworkError && /no progress/.test(failure.message), String(failure));
  }
  for await (const _chunk of getStream(`${server.url}/whole`, { stallTimeoutMs: 200 }))
    await new Promise((resolve) => setTimeout(resolve, 400));
});

test("who gives up gets the reason of the signal", async () => {
  await using server = await serve((_request, response) => void response.write(chunk));
  const giving = new AbortController();
  const reading = read(server.url, { signal: giving.signal });
  setTimeout(() => giving.abort(new Error("enough")), 20);
  await assert.rejects(reading, /enough/);
});

async function read(url: string, options?: GetOptions): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(getStream(url, options)));
}

async function failureOf(reading: Promise<unknown>): Promise<unknown> {
  return await reading.then(
    () => assert.fail("it should fail"),
    (error: unknown) => error,
  );
}
