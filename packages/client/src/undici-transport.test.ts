import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { undiciTransport } from "./undici-transport.ts";

test("calls one after another go over one connection", async () => {
  const server = createServer((_, response) => response.end("{}")).listen(0, "127.0.0.1");
  await once(server, "listening");
  const seen = { connections: 0 };
  server.on("connection", () => (seen.connections += 1));
  await using transport = undiciTransport();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const { signal } = new AbortController();
  for (let n = 0; n < 10; n++) await transport({ method: "GET", url, headers: {}, signal });
  assert.equal(seen.connections, 1);
  server.close();
});
