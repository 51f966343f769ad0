import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { api } from "@downlink/protocol";
import { startCloud } from "./testing/start-cloud.ts";

const LIMIT_MS = 60_000;

test("a connection by which nothing came, as browsers open them ahead, does not hold up a stop; one by which a request comes does", async (t) => {
  const closes: (() => Promise<void>)[] = [];
  const environment = { DOWNLINK_GRACE: "3600s" };
  const cloud = await startCloud({ after: (close) => void closes.push(close) }, { works: false, environment });
  const used = await open(t, cloud.url);
  used.write("GET /livez HTTP/1.1\r\n");
  const unused = await open(t, cloud.url);
  await cloud.admin.call(api.projects.list, {}); // so that the process has accepted both
  const ended = (async () => {
    for (const close of closes) await close();
  })();
  await once(unused.resume(), "close", { signal: AbortSignal.timeout(LIMIT_MS) });
  assert.equal(unused.bytesRead, 0);
  used.write("host: localhost\r\n\r\n");
  assert.match(await text(used), /^HTTP\/1\.1 200 /);
  await ended;
});

async function open(t: TestContext, url: string) {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  t.after(() => socket.destroy());
  await once(socket, "connect");
  return socket;
}
