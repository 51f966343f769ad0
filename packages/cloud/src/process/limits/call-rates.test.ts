import assert from "node:assert/strict";
import { after, test } from "node:test";
import { ErrorBody } from "@downlink/protocol";
import { startCloud } from "../../testing/start-cloud.ts";

const rates = { callsPerMinute: 120, failuresPerMinute: 60 }; // 20 and 10 in a window of 10 s
const environment = { DOWNLINK_TRUSTED_PROXIES: "127.0.0.0/8" };
const cloud = await startCloud({ after }, { works: false, limits: { rates }, environment });

async function list(token: string, forwardedFor = "203.0.113.1") {
  const headers = { authorization: `Bearer ${token}`, "x-forwarded-for": forwardedFor };
  const answer = await fetch(`${cloud.url}/v1/devices?limit=1`, { headers });
  const body = (await answer.json()) as unknown;
  return { status: answer.status, headers: answer.headers, body };
}

async function repeat<T>(times: number, work: () => Promise<T>): Promise<T[]> {
  const done: T[] = [];
  for (let time = 0; time < times; time++) done.push(await work());
  return done;
}

test("a token beyond its rate is asked to wait, and another token is not", async () => {
  const [busy, other] = [await cloud.addKey(["devices.list"]), await cloud.addKey(["devices.list"])];
  const answers = await repeat(45, () => list(busy)); // a window may end in the middle of them
  const refused = answers.find(({ status }) => status === 429)!;
  assert.equal(ErrorBody.parse(refused.body).code, "RateLimited");
  const waitSeconds = Number(refused.headers.get("retry-after"));
  assert(waitSeconds >= 1 && waitSeconds <= 10);
  assert.equal(refused.headers.get("ratelimit-policy"), '"token";q=20;w=10');
  assert.match(refused.headers.get("ratelimit")!, /^"token";r=0;t=\d+$/);
  assert(answers.filter(({ status }) => status === 200).length >= 20);
  const { status, headers } = await list(other);
  assert.deepEqual([status, headers.get("ratelimit-policy")], [200, '"token";q=20;w=10']);
  assert.match(headers.get("ratelimit")!, /^"token";r=1[89];t=\d+$/, "a call that succeeds says how many are left");
});

test("failures of an address delay only its failures, never a valid token, and no other address", async () => {
  const key = await cloud.addKey(["devices.list"]);
  const answers = await repeat(25, () => list("dl_sk_wrong", "203.0.113.7"));
  assert.deepEqual([...new Set(answers.map(({ status }) => status))].sort(), [401, 429]);
  const refused = answers.find(({ status }) => status === 429)!;
  assert(Number(refused.headers.get("retry-after")) >= 1);
  assert.match(refused.headers.get("ratelimit")!, /^"failures";r=0/);
  assert.equal((await list(key, "203.0.113.7")).status, 200);
  assert.equal((await list("dl_sk_wrong", "203.0.113.8")).status, 401);
});

test("an IPv6 address counts with its whole /64, and addresses that a client writes into the header do not help", async () => {
  const hosts = Array.from({ length: 25 }, (_, at) => `198.51.100.${at}, 2001:db8:0:9::${at}`);
  const statuses = await Promise.all(hosts.map(async (host) => (await list("dl_sk_wrong", host)).status));
  assert(statuses.includes(429));
  assert.equal((await list("dl_sk_wrong", "2001:db8:0:a::1")).status, 401);
});
