import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { START_NS, sampleTopics } from "@downlink/messages/testing/sample-topics";
import { slowTest } from "@downlink/recordings/testing";
import { makeExport } from "../testing/make-export.ts";
import { startNodeWorker } from "../testing/node-preview-worker.ts";
import { openSession } from "./session.ts";

const LONG_MS = 60_000;

test("a link is opened in a worker, asked about, and closed, which ends the worker", async () => {
  await using server = await serve(await makeExport(sampleTopics(100)));
  const worker = startNodeWorker();
  const session = openSession(worker, server.link, { silenceMs: LONG_MS });
  const opened = await session.opened;
  assert.deepEqual([opened.originNs, opened.messageCount, opened.end], [START_NS, 400, "complete"]);
  assert.equal((await session.ask("fields", { topic: "/ros2" })).fields[0], "/is_on");
  const lines = [{ topic: "/ros1", field: "/motion/x" }];
  const plot = await session.ask("plot", { lines, startNs: 0, endNs: opened.endNs, columns: 2000 });
  assert.equal(plot.points[0]!.filter((point) => typeof point === "number").length, 100);
  await assert.rejects(session.ask("fields", { topic: "/none" }).then(({ fields }) => assert.deepEqual(fields, [1])));
  await assert.rejects(session.ask("image", { topic: "/json", timeNs: 0 }), /no bytes of a picture/);
  const asked = session.ask("track", { topic: "/json" });
  session.close();
  await assert.rejects(asked, /was closed/);
  await assert.rejects(session.ask("track", { topic: "/json" }), /was closed/);
  await worker.exited;
});

slowTest("a worker that works for ever is ended, and what was asked is refused with a sentence", async () => {
  const messages = [{ logTimeNs: START_NS, data: Buffer.from('{"data": "/9j/"}') }];
  await using server = await serve(await makeExport([{ ...sampleTopics(0)[0]!, messages }]));
  const worker = startNodeWorker("globalThis.atob = () => { for (;;); };");
  const session = openSession(worker, server.link, { silenceMs: 5000 });
  await session.opened;
  await assert.rejects(session.ask("image", { topic: "/json", timeNs: 0 }), /made no progress for too long/);
  await worker.exited;
});

test("a server that stops sending is given up, one that refuses is named, and one that is not there too", async () => {
  const bytes = await makeExport(sampleTopics(10));
  {
    await using stalled = await serve(bytes.subarray(0, 500), { endsNever: true });
    const worker = startNodeWorker();
    await assert.rejects(openSession(worker, stalled.link, { silenceMs: 5000 }).opened, /made no progress/);
    await worker.exited;
  }
  let gone = "";
  {
    await using refusing = await serve(bytes, { status: 403 });
    gone = refusing.link;
    await assert.rejects(openSession(startNodeWorker(), refusing.link, { silenceMs: LONG_MS }).opened, /answered 403/);
  }
  await assert.rejects(openSession(startNodeWorker(), gone, { silenceMs: LONG_MS }).opened, /cannot be reached/);
});

async function serve(bytes: Uint8Array, { status = 200, endsNever = false } = {}) {
  const server = createServer((_, response) => {
    response.writeHead(status);
    response.write(bytes);
    if (!endsNever) response.end();
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return {
    link: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}
