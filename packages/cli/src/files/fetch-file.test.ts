import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { test } from "node:test";
import { answerJson, serve } from "@downlink/client/testing";
import { InterruptedError } from "../failures/failures.ts";
import type { Service } from "../login/open-service.ts";
import { fetchFile } from "./fetch-file.ts";

const bytes = randomBytes(2_000_000);
const sha256 = createHash("sha256").update(bytes).digest("hex");
const newPath = () => join(mkdtempSync(join(tmpdir(), "downlink-dl-")), "a.mcap");
const partOf = (path: string) => `${path}.${sha256.slice(0, 16)}.part`;

/** Sends the rest of the file from where it was asked for, or less. `time` counts the requests. */
type Send = (response: ServerResponse, rest: Buffer, time: number) => void;
const sendAll: Send = (response, rest) => void response.end(rest);

async function startServer(send: Send = sendAll, etag = sha256) {
  const starts: number[] = [];
  const server = await serve((request, response) => {
    const asked = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? "")?.[1] ?? 0);
    const start = request.headers["if-range"] === `"${etag}"` ? asked : 0;
    if (start > 0) response.statusCode = 206;
    starts.push(start);
    send(response, bytes.subarray(start), starts.length);
  });
  let links = 0;
  const file = { sizeBytes: bytes.length, sha256, link: async () => `${server.url}/${++links}` };
  const fetch = (path: string, signal: AbortSignal = new AbortController().signal) =>
    fetchFile({ signal, dispatcher: undefined } as unknown as Service, file, { path, force: false });
  return { starts, fetch, linkCount: () => links, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

const sendSome: Send = (response, rest) => {
  response.setHeader("content-length", rest.length);
  response.write(rest.subarray(0, 150_000), () => response.destroy());
};

test("a connection that breaks again and again is resumed where it broke", async () => {
  await using server = await startServer((...given) => (given[2] < 4 ? sendSome : sendAll)(...given));
  const path = newPath();
  await server.fetch(path);
  assert.ok(bytes.equals(readFileSync(path)));
  assert.deepEqual(readdirSync(dirname(path)), [basename(path)]);
  assert.equal(server.starts.length, 4);
  assert.deepEqual(
    server.starts,
    server.starts.toSorted((a, b) => a - b),
  );
  assert.ok(server.starts[3]! > 0);
});

test("a program that was ended leaves its part, and the next one goes on behind that", async () => {
  const interrupting = new AbortController();
  await using server = await startServer((response, rest, time) => {
    if (time > 1) return sendAll(response, rest, time);
    response.setHeader("content-length", rest.length);
    response.write(rest.subarray(0, 150_000));
  });
  const path = newPath();
  const fetching = server.fetch(path, interrupting.signal);
  while (!readdirSync(dirname(path)).some((name) => readFileSync(join(dirname(path), name)).length > 0))
    await new Promise((resolve) => setImmediate(resolve));
  interrupting.abort(new InterruptedError("SIGINT"));
  await assert.rejects(fetching, InterruptedError);
  const part = readFileSync(partOf(path));
  assert.ok(part.length > 0 && bytes.subarray(0, part.length).equals(part));
  await server.fetch(path);
  assert.deepEqual(server.starts, [0, part.length]);
  assert.ok(bytes.equals(readFileSync(path)));
});

test("another link is asked for once the first one has expired", async () => {
  await using server = await startServer((response, rest, time) =>
    time === 1 ? answerJson(response, 403, { error: "over", code: "LinkExpired" }) : sendAll(response, rest, time),
  );
  const path = newPath();
  await server.fetch(path);
  assert.equal(server.linkCount(), 2);
  assert.ok(bytes.equals(readFileSync(path)));
});

test("a part that is not of the file is no part of the result, and is not kept", async () => {
  await using server = await startServer();
  const [longer, altered] = [newPath(), newPath()];
  writeFileSync(partOf(longer), Buffer.alloc(bytes.length + 1));
  await server.fetch(longer);
  assert.ok(bytes.equals(readFileSync(longer)));
  writeFileSync(partOf(altered), Buffer.alloc(1000));
  await assert.rejects(server.fetch(altered), /^RefusedError: the bytes that came are not those/);
  assert.deepEqual(readdirSync(dirname(altered)), []);
});

test("a link that has other bytes by now ends the fetch", async () => {
  await using server = await startServer(sendSome, "other");
  await assert.rejects(server.fetch(newPath()), /^OtherBytesError: the file was replaced/);
});
