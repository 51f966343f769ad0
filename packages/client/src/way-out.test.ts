import assert from "node:assert/strict";
import { test } from "node:test";
import { NetworkError } from "./errors.ts";
import { putStream } from "./put-stream.ts";
import { createAuthority, readBody, serve, startTestProxy } from "./testing.ts";
import { undiciTransport } from "./undici-transport.ts";
import type { WayOut } from "./way-out.ts";

/** A name that only the proxy resolves. */
const HOST = "cloud.downlink.invalid";

test("a private authority is trusted beside Node's own roots, directly and through a proxy, for calls and for parts", async () => {
  const authority = createAuthority("Robots");
  await using server = await serveTls(authority.issue(HOST));
  await using proxy = await startTestProxy({ hosts: { [`${HOST}:443`]: server.address } });
  const way = { proxies: { httpsProxy: proxy.url }, extraRoots: [createAuthority("Others").cert, authority.cert] };
  assert.equal((await get(`https://${HOST}/x`, way)).body, "GET /x 0");
  await using transport = undiciTransport({ way });
  const { dispatcher } = transport;
  const put = await putStream(`https://${HOST}/part`, { body: [Buffer.alloc(100_000)], length: 100_000, dispatcher });
  assert.equal(put.status, 200);
  assert.deepEqual(server.seen, ["GET /x 0", "PUT /part 100000"]);
  assert.deepEqual(proxy.passed, [`CONNECT ${HOST}:443`, `CONNECT ${HOST}:443`]);
  const untrusted = await failureOf(get(`https://${HOST}/x`, { proxies: way.proxies }));
  assert.match(untrusted.message, /through the proxy .*unable to verify/);
  assert.deepEqual(server.seen.length, 2);
});

test("a plain URL goes through its proxy too, and hosts that NO_PROXY names, or on this machine, are reached directly", async () => {
  await using server = await serve((request, response) => void response.end(`${request.method} ${request.url}`));
  const address = new URL(server.url).host;
  await using proxy = await startTestProxy({ hosts: { [HOST]: address } });
  const proxies = { httpProxy: proxy.url };
  assert.equal((await get(`http://${HOST}/a?b=c`, { proxies })).body, "GET /a?b=c");
  assert.deepEqual(proxy.passed, [`GET http://${HOST}/a?b=c`]);
  const direct = await failureOf(get(`http://${HOST}/d`, { proxies: { ...proxies, noProxy: HOST } }));
  assert.match(direct.message, /^cannot reach cloud\.downlink\.invalid: getaddrinfo/);
  assert.equal((await get(`${server.url}/e`, { proxies })).body, "GET /e");
  assert.equal(proxy.passed.length, 1);
});

test("user and password are sent only to the proxy, and no message shows them", async () => {
  const authority = createAuthority("Robots");
  const heads: unknown[] = [];
  await using server = await serveTls(authority.issue(HOST), (headers) => heads.push(headers["proxy-authorization"]));
  const hosts = { [`${HOST}:443`]: server.address, [HOST]: server.address };
  await using proxy = await startTestProxy({ credentials: "rover:s3:cret", hosts });
  const as = (user: string) => proxy.url.replace("//", `//${user}@`);
  const way = (user: string): WayOut => ({
    proxies: { httpProxy: as(user), httpsProxy: as(user) },
    extraRoots: [authority.cert],
  });
  assert.equal((await get(`https://${HOST}/x`, way("rover:s3%3Acret"))).status, 200);
  assert.deepEqual(heads, [undefined]);
  for (const url of [`https://${HOST}/x`, `http://${HOST}/x`]) {
    const refused = await failureOf(get(url, way("rover:wrong-word")));
    assert.match(refused.message, /^the proxy http:\/\/127\.0\.0\.1:\d+ asks for a user and a password \(407\)$/);
    assert.doesNotMatch(`${refused.stack} ${(refused.cause as Error).stack}`, /wrong-word/);
  }
});

test("a proxy that refuses, hangs, breaks off or does not exist is a network failure that names it", async () => {
  await using proxy = await startTestProxy();
  const proxies = { httpsProxy: proxy.url };
  proxy.answer = 403;
  assert.match((await failureOf(get(`https://${HOST}`, { proxies }))).message, /refuses the connection \(403\)/);
  proxy.answer = "hang";
  const hanging = failureOf(get(`https://${HOST}`, { proxies }));
  await proxy.asked();
  proxy.cut();
  assert.match((await hanging).message, /through the proxy http:\/\/127/);
  await proxy[Symbol.asyncDispose]();
  assert.match((await failureOf(get(`https://${HOST}`, { proxies }))).message, /through the proxy .*ECONNREFUSED/);
});

async function serveTls(
  certificate: { cert: string; key: string },
  onHeaders: (headers: NodeJS.Dict<unknown>) => void = () => {},
) {
  const seen: string[] = [];
  const server = await serve(async (request, response) => {
    onHeaders(request.headers);
    const line = `${request.method} ${request.url} ${(await readBody(request)).length}`;
    seen.push(line);
    response.end(line);
  }, certificate);
  return { ...server, seen, address: new URL(server.url).host };
}

async function get(url: string, way: WayOut) {
  await using transport = undiciTransport({ way });
  return await transport({ method: "GET", url, headers: {}, signal: AbortSignal.timeout(20_000) });
}

async function failureOf(promise: Promise<unknown>): Promise<NetworkError> {
  const failure = await promise.then(
    () => assert.fail("expected a failure"),
    (error: unknown) => error,
  );
  assert.ok(failure instanceof NetworkError, String(failure));
  return failure;
}
