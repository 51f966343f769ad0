import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { after, test } from "node:test";
import { setInterval } from "node:timers/promises";
import { ErrorBody } from "@downlink/protocol";
import { connectionLimits } from "../../process/limits/limits.ts";
import { startCloud } from "../../testing/start-cloud.ts";

const LONG_MS = 600_000;
const quick = { ...connectionLimits, headersMs: LONG_MS, unreadMs: LONG_MS };
const patient = await startCloud({ after }, { works: false, limits: { connections: quick } });
const short = { headersMs: 300, unreadMs: 300 };
const strict = await startCloud({ after }, { works: false, limits: { connections: { ...quick, ...short } } });

test("a silent connection, and one whose headers never end, are closed in time", async () => {
  await using silent = await open(strict.url);
  await using slow = await open(strict.url);
  slow.socket.write("GET /livez HTTP/1.1\r\n");
  for await (const _ of setInterval(20)) {
    if (slow.socket.closed) break;
    slow.socket.write("X-A: 1\r\n");
  }
  await silent.closed;
});

test("headers that do not arrive in time are refused like everything else: JSON with a code and a request id", async () => {
  for (const head of ["GET /livez HTTP/1.1\r\nX-A: 1\r\n", "GET /livez"]) {
    await using slow = await open(strict.url);
    slow.socket.write(head);
    const [headers, body] = (await slow.received).split("\r\n\r\n") as [string, string];
    assert.match(headers, /^HTTP\/1\.1 408 Request Timeout\r\n/);
    for (const header of [/^content-type: application\/json/im, /^x-request-id: [\w-]{36}$/im, /^connection: close$/im])
      assert.match(headers, header);
    assert.equal(ErrorBody.parse(JSON.parse(body)).code, "HeadersTimeout");
  }
});

test("a connection is kept 75 s after a request", async () => {
  const answer = await fetch(`${patient.url}/livez`);
  assert.equal(answer.headers.get("keep-alive"), "timeout=75");
});

test("of the connections of one address without a token the oldest are closed; those with a token stay", async () => {
  const limits = { connections: { ...quick, unprovenPerAddress: 10, unprovenMs: 0 } };
  await using stack = new AsyncDisposableStack();
  const cloud = await startCloud({ after: (close) => stack.defer(close) }, { works: false, limits });
  const proven = stack.use(await open(cloud.url));
  assert.match(await proven.get("/v1/devices", cloud.adminKey), /^HTTP\/1\.1 200/);
  const wrong = stack.use(await open(cloud.url));
  assert.match(await wrong.get("/v1/devices", "dl_sk_wrong"), /^HTTP\/1\.1 401/);
  const opened = [wrong];
  for (let count = 0; count < 29; count++) opened.push(stack.use(await open(cloud.url)));
  await Promise.all(opened.slice(0, 20).map(({ closed }) => closed));
  for (const { socket } of [proven, ...opened.slice(20)]) assert(!socket.closed);
  assert.match(await proven.get("/v1/devices", cloud.adminKey), /^HTTP\/1\.1 200/);
  assert.match(await opened.at(-1)!.get("/v1/devices", cloud.adminKey), /^HTTP\/1\.1 200/);
});

test("the connections of a fleet that comes all at once are not closed before they could prove themselves", async () => {
  const limits = { connections: { ...quick, unprovenPerAddress: 5, unprovenMs: 5000 } };
  await using stack = new AsyncDisposableStack();
  const cloud = await startCloud({ after: (close) => stack.defer(close) }, { works: false, limits });
  const opened = await Promise.all(Array.from({ length: 40 }, async () => stack.use(await open(cloud.url))));
  const answers = await Promise.all(opened.map(({ get }) => get("/v1/devices", cloud.adminKey)));
  for (const answer of answers) assert.match(answer, /^HTTP\/1\.1 200/);
});

test("connections of a trusted proxy are not counted for its address, and the total is bounded", async () => {
  const limits = { connections: { ...quick, unprovenPerAddress: 1, most: 6 } };
  const environment = { DOWNLINK_TRUSTED_PROXIES: "127.0.0.0/8" };
  await using stack = new AsyncDisposableStack();
  const cloud = await startCloud({ after: (close) => stack.defer(close) }, { works: false, limits, environment });
  const opened = [];
  for (let count = 0; count < 6; count++) opened.push(stack.use(await open(cloud.url)));
  await stack.use(await open(cloud.url)).closed;
  for (const { get } of opened) assert.match(await get("/livez"), /^HTTP\/1\.1 200/);
});

test("an answer that nobody reads ends with its connection, and one that is read slowly is whole", async () => {
  await using idle = await open(strict.url);
  await using slow = await open(strict.url);
  const page = "GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: x\r\n\r\n".repeat(20); // more than the kernel buffers
  for (const { socket } of [idle, slow]) socket.pause().write(page);
  const received = { bytes: 0 };
  slow.socket.on("data", (piece) => {
    received.bytes += piece.byteLength;
    slow.socket.pause();
  });
  for await (const _ of setInterval(5)) {
    if (idle.socket.closed) break;
    idle.socket.write("\r\n"); // a client that does not read notices the end only by writing
    slow.socket.resume();
  }
  assert(!slow.socket.closed && received.bytes > 0);
});

async function open(url: string) {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => {});
  const closed = new Promise<void>((resolve) => socket.once("close", resolve));
  await once(socket, "connect");
  const pieces: Buffer[] = [];
  socket.on("data", (piece: Buffer) => pieces.push(piece)); // a client that does not read does not notice the end
  return {
    socket,
    closed,
    /** Everything that arrived, once the connection is closed. */
    received: closed.then(() => Buffer.concat(pieces).toString()),
    get: (path: string, token?: string) => get(socket, path, token),
    [Symbol.asyncDispose]: async () => void socket.destroy(),
  };
}

async function get(socket: Socket, path: string, token?: string): Promise<string> {
  const authorization = token === undefined ? "" : `Authorization: Bearer ${token}\r\n`;
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n${authorization}\r\n`);
  const [piece] = (await once(socket, "data")) as [Buffer];
  return piece.toString();
}
