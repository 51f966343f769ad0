import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { eventually } from "@downlink/recordings/testing";
import { startNginx, whyNoNginx } from "./nginx.ts";

/** Starts a server that answers 204. */
async function startServer() {
  const server = createServer((_request, response) => response.writeHead(204).end()).listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  };
  return { address: `127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}

const PATHS = ["/endpoints/inbox", "/data-plane/objects/a", "//data-plane/b", "/%65ndpoints/c"];

test("nginx logs no token of an inbox and no link, whether a process answers or none can be reached", {
  skip: whyNoNginx(),
}, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "downlink-nginx-log-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const [behind, free] = [await startServer(), await startServer()];
  await free.close();
  const upstreams = [behind.address, behind.address, behind.address];
  await using nginx = await startNginx({ folder, address: free.address, upstreams });
  const ask = async (path: string) => {
    const headers = { referer: `${nginx.url}/?s=hidden` };
    return (await fetch(`${nginx.url}${path}?token=hidden`, { headers })).status;
  };

  assert.deepEqual(await Promise.all([...PATHS, "/v1/devices"].map(ask)), [204, 204, 204, 204, 204]);
  await behind.close();
  assert.deepEqual(await Promise.all(PATHS.map(ask)), [502, 502, 502, 502]);
  const linesOf = (text: string, path: string) => text.split(`"GET ${path} HTTP/1.1"`).length - 1;
  const logged = await eventually(nginx.logged, (text) => PATHS.every((path) => linesOf(text, path) === 2));
  assert.doesNotMatch(logged, /hidden/);
});
