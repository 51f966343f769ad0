import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import { api } from "@downlink/protocol";
import { startCloud } from "./testing/start-cloud.ts";

const GRACE_SECONDS = 3600;
const LIMIT_MS = 60_000;

test("a connection by which nothing came, as browsers open them ahead, does not hold up the end of the process", async (t) => {
  const closes: (() => Promise<void>)[] = [];
  const environment = { DOWNLINK_GRACE: `${GRACE_SECONDS}s` };
  const cloud = await startCloud({ after: (close) => void closes.unshift(close) }, { works: false, environment });
  const { hostname, port } = new URL(cloud.url);
  const unused = connect(Number(port), hostname);
  t.after(() => unused.destroy());
  const closed = once(unused.resume(), "close", { signal: AbortSignal.timeout(LIMIT_MS) });
  await once(unused, "connect");
  await cloud.admin.call(api.projects.list, {}); // so that the process has accepted the connection
  const ended = Promise.all(closes.map((close) => close()));
  await closed;
  await ended;
  assert.equal(unused.bytesRead, 0);
});
