import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { test } from "node:test";
import { setInterval } from "node:timers/promises";
import { api, bodyLimits } from "@downlink/protocol";
import type { BodyPatience } from "../../process/limits/limits.ts";
import { serveRoutes } from "../data-plane/testing/serve-routes.ts";
import { readJsonText } from "./json-body.ts";

const FOR_EVER_MS = 3_600_000;
const unhurried: BodyPatience = { stallMs: FOR_EVER_MS, totalMs: FOR_EVER_MS, leastBytesPerSecond: 0 };

test("a body that stops arriving is answered 408, and its connection ends", async () => {
  await using served = await serveBodies({ ...unhurried, stallMs: 50 });
  await using sender = await beginPost(served.url, 100);
  sender.socket.write('{"name":');
  const answer = await sender.answer();
  assert.match(answer, /^HTTP\/1\.1 408 .*"code":"BodyTimeout"/s);
  assert.match(answer, /^connection: close\r$/im);
});

test("a body that never stops arriving, but is not whole in time, is answered 408", async () => {
  await using served = await serveBodies({ ...unhurried, stallMs: 2000, totalMs: 400 });
  await using sender = await beginPost(served.url, 100_000);
  assert.match(await sender.answerWhile(() => sender.socket.write("  ")), /408 .*not whole within 0\.4 s/s);
});

test("a body of a few bytes a second is answered 408, and one that is fast enough is accepted", async () => {
  await using served = await serveBodies({ stallMs: 200, totalMs: FOR_EVER_MS, leastBytesPerSecond: 5000 });
  await using slow = await beginPost(served.url, 100_000);
  assert.match(await slow.answerWhile(() => slow.socket.write(" ")), /408 .*less than 5000 bytes a second/s);
  await using fast = await beginPost(served.url, 100_000);
  const left = { bytes: 100_000 };
  const answer = fast.answerWhile(() => {
    const bytes = Math.min(left.bytes, 2000);
    left.bytes -= bytes;
    fast.socket.write(" ".repeat(bytes));
  });
  assert.match(await answer, /^HTTP\/1\.1 200 .*100000/s);
});

test("a sender of too many bytes or values gets its answer even while it goes on sending", async () => {
  await using served = await serveBodies(unhurried);
  const { bytes, values } = bodyLimits.ordinary;
  for (const [body, reason] of [
    [" ".repeat(bytes + 1), /413 .*longer than/s],
    [`[${"1,".repeat(values)}`, /413 .*holds more than/s],
  ] as const) {
    await using chunked = await beginPost(served.url, undefined);
    chunked.socket.write(`${body.length.toString(16)}\r\n${body}\r\n`);
    assert.match(await chunked.answer(), reason);
  }
});

test("a sender that goes away in the middle leaves no request behind", async () => {
  const shown = Promise.withResolvers<string>();
  await using served = await serveRoutes((app) =>
    app.post("/", async (c) => {
      c.set("bodyPatience", unhurried);
      await readJsonText(c, api.devices.create).catch((error: Error) => shown.resolve(error.message));
      return c.json({});
    }),
  );
  await using sender = await beginPost(served.url, 100);
  sender.socket.write("{", () => sender.socket.destroy());
  assert.match(await shown.promise, /went away|aborted/);
});

function serveBodies(patience: BodyPatience) {
  return serveRoutes((app) =>
    app.post("/", async (c) => {
      c.set("bodyPatience", patience);
      return c.json({ characters: (await readJsonText(c, api.devices.create)).length });
    }),
  );
}

/** Sends the head of a request whose body has so many bytes, or is chunked if no number is given. */
async function beginPost(url: string, bytes: number | undefined) {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => {});
  await once(socket, "connect");
  const length = bytes === undefined ? "Transfer-Encoding: chunked" : `Content-Length: ${bytes}`;
  socket.write(`POST / HTTP/1.1\r\nHost: x\r\n${length}\r\n\r\n`);
  return {
    socket,
    answer: () => firstAnswer(socket),
    answerWhile: async (write: () => void) => {
      const answered = new AbortController();
      const answer = firstAnswer(socket).finally(() => answered.abort());
      for await (const _ of setInterval(5)) {
        if (answered.signal.aborted) break;
        write();
      }
      return answer;
    },
    [Symbol.asyncDispose]: async () => void socket.destroy(),
  };
}

async function firstAnswer(socket: Socket): Promise<string> {
  let text = "";
  for await (const piece of socket.iterator({ destroyOnReturn: false })) {
    text += String(piece);
    if (text.endsWith("}")) break;
  }
  return text;
}
