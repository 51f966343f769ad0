import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, LEASE_HEADER } from "@downlink/protocol";
import { eventually, slowTest } from "@downlink/recordings/testing";
import { Browser } from "../../organization/sign-in/testing/browser.ts";
import { hashToken } from "../../process/credentials/mint.ts";
import { defaultLimits } from "../../process/limits/limits.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { startAgent } from "../../testing/test-agent.ts";

const calls = { atOnce: Number.POSITIVE_INFINITY, perOwner: 1, waiting: 0, waitMs: 30_000 };
const limits = { turns: { ...defaultLimits.turns, calls } };
const environment = { DOWNLINK_TRUSTED_PROXIES: "127.0.0.0/8" };
const cloud = await startCloud({ after }, { works: false, limits, environment });
const never = () => new AbortController().signal;

const statusOf = async (headers: Record<string, string>, path = "/v1/me", method = "GET") => {
  const answer = await fetch(`${cloud.url}${path}`, { method, headers });
  await answer.text();
  return answer.status;
};

test("a token has one turn, however it is spelled", async () => {
  const token = await cloud.addKey(["devices.list"]);
  const other = await cloud.addKey(["devices.list"]);
  using _held = await cloud.deps.turns.calls.take({ owner: hashToken(token) }, never);
  for (const authorization of [`Bearer ${token}`, `bearer   ${token}`, `BEARER ${token}`, `bEARER  ${token} `])
    assert.equal(await statusOf({ authorization, cookie: `a=${authorization.length}` }), 503, authorization);
  assert.equal(await statusOf({ authorization: `Bearer ${other}` }), 200);
});

test("a session has one turn, whatever stands beside its cookie, and also as a bearer token", async () => {
  const browser = new Browser(cloud);
  await browser.signIn({ apiKey: cloud.adminKey });
  const cookie = browser.cookie!;
  const token = cookie.split("=")[1]!;
  using _held = await cloud.deps.turns.calls.take({ owner: hashToken(token) }, never);
  for (const text of [cookie, `a=1; ${cookie}`, `${cookie};b=2`, `c=3;   ${cookie} ; ${cookie}x`])
    assert.equal(await statusOf({ cookie: text }), 503, text);
  assert.equal(await statusOf({ authorization: `Bearer ${token}` }), 503);
});

test("a caller without a token is known by its address, whatever it sends", async () => {
  using _held = await cloud.deps.turns.calls.take({ owner: "address 203.0.113.1" }, never);
  for (const address of ["203.0.113.1", "::ffff:203.0.113.1", "::FFFF:cb00:7101", "203.0.113.1:99"])
    for (const more of ["authorization: Basic YTpi", "authorization: Bearer", "cookie: a=1", "x: y"]) {
      const [name, value] = more.split(": ") as [string, string];
      assert.equal(await statusOf({ "x-forwarded-for": address, [name]: value }, "/v1/me?token=x"), 503, more);
    }
  assert.equal(await statusOf({ "x-forwarded-for": "203.0.113.2" }), 401);
});

test("the token of an inbox is known by the query, whatever stands in the header", async () => {
  using _held = await cloud.deps.turns.calls.take({ owner: hashToken("dl_snt_a") }, never);
  for (const headers of [{}, { authorization: "Bearer x" }, { authorization: "Bearer y" }] as Record<string, string>[])
    assert.equal(await statusOf(headers, "/endpoints/inbox-notifications?token=dl_snt_a", "POST"), 503);
});

slowTest("the polls of an agent's token are counted together, however it is spelled", async () => {
  const agent = await startAgent(cloud, "robot");
  const { etag } = await agent.call(api.edge.work, {});
  const lease = { [LEASE_HEADER]: String(agent.hello.lease) };
  const poll = (spelling: string) =>
    statusOf({ authorization: `${spelling}${agent.token}`, ...lease }, `/v1/edge/work?wait=5&etag=${etag}`);
  const waiting = ["Bearer ", "bearer ", "BEARER ", "Bearer   ", "bEARER "].map(poll);
  await eventually(
    async () => cloud.deps.polls.waiting(agent.deviceId),
    (count) => count === 4,
  );
  assert.equal(await poll("beareR "), 429);
  cloud.deps.polls.answerAll();
  await Promise.all(waiting);
});
