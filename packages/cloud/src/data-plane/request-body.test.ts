import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import { requestBody } from "./request-body.ts";
import { serveRoutes } from "./testing/serve-routes.ts";

test("a sender that sends nothing for too long is cut off, and the receiver is told", async () => {
  const told = Promise.withResolvers<unknown>();
  await using served = await serveRoutes((app) =>
    app.put("/", async (c) => {
      const received = Array.fromAsync(requestBody(c, 50));
      told.resolve(
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
  assert.equal(((await told.promise) as NodeJS.ErrnoException).code, "ECONNRESET");
});
