import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import { request } from "undici";
import { requestBody } from "./request-body.ts";
import { serveRoutes } from "./testing/serve-routes.ts";

test("a sender that sends nothing for too long is cut off, and the receiver gets an error", async () => {
  const shown = Promise.withResolvers<unknown>();
  await using served = await serveRoutes((app) =>
    app.put("/", async (c) => {
      const received = Array.fromAsync(requestBody(c, 50));
      shown.resolve(
        await received.then(
          () => "passed",
          (error: unknown) => error,
        ),
      );
      return c.json({});
    }),
  );
  const { hostname, port } = new URL(served.url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => {});
  socket.write("PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nsome");
  await once(socket, "close");
  assert.equal(((await shown.promise) as Error).name, "CallerGoneError");
});

test("a piece is valid until the next one is requested, and then its memory is freed", async () => {
  const sent = randomBytes(3_000_000);
  const shown = Promise.withResolvers<{ received: Buffer; isFree: boolean[] }>();
  await using served = await serveRoutes((app) =>
    app.put("/", async (c) => {
      const copies: Buffer[] = [];
      const pieces: Uint8Array[] = [];
      for await (const piece of requestBody(c)) {
        copies.push(Buffer.from(piece));
        pieces.push(piece);
      }
      shown.resolve({ received: Buffer.concat(copies), isFree: pieces.map(({ byteLength }) => byteLength === 0) });
      return c.json({});
    }),
  );
  const answer = await request(served.url, { method: "PUT", body: sent });
  assert.equal(answer.statusCode, 200);
  const { received, isFree } = await shown.promise;
  assert(received.equals(sent));
  assert(isFree.length > 1 && isFree.every(Boolean));
});
