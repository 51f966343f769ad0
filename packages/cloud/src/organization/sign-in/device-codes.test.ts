import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api } from "@downlink/protocol";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { createRunningClock } from "../../testing/test-clock.ts";
import { Browser } from "./testing/browser.ts";

const SECOND_NS = 1_000_000_000n;
const DAY_NS = 86_400n * SECOND_NS;
const clock = createRunningClock();
const cloud = await startCloud({ after }, { works: false, clock });
const { admin } = cloud;
const clientId = "terminal";
let people = 0;

/** A program has no page, no cookie, and before it is signed in an empty token. */
const program = new Browser(cloud);
const asProgram = (path: string, body: unknown) =>
  program.ask({ method: "POST", path, body, headers: { origin: "absent", authorization: "Bearer " } });

async function newMember() {
  const { link } = await admin.call(api.invitations.create, { email: `person-${++people}@example.org`, role: "user" });
  const browser = new Browser(cloud);
  await browser.accept(link!);
  return browser;
}

async function begin() {
  const { status, json } = await asProgram("/v1/auth/device-code", { clientId });
  assert.equal(status, 200);
  return json as { deviceCode: string; userCode: string; verificationUri: string; verificationUriComplete: string };
}

const poll = (deviceCode: string, as = clientId) => asProgram("/v1/auth/token", { deviceCode, clientId: as });
const decide = (browser: Browser, userCode: string, approve = true) =>
  browser.ask({ method: "POST", path: "/v1/session/device", body: { userCode, approve } });

test("a program is signed in by a member who types its code, and has their rights for 90 days, also when it rests", async () => {
  const member = await newMember();
  const { deviceCode, userCode, ...uris } = await begin();
  assert.equal(uris.verificationUriComplete, `${uris.verificationUri}?code=${userCode}`);
  const pending = await poll(deviceCode);
  assert.deepEqual([pending.status, pending.json.code], [403, "AuthorizationPending"]);
  const shown = (await member.ask({ path: `/v1/session/device?userCode=${userCode.toLowerCase()}` })).json;
  assert.deepEqual([shown.clientId, shown.address], [clientId, "127.0.0.1"]);
  assert.deepEqual((await decide(member, userCode)).json, { approved: true });
  const { idToken } = (await poll(deviceCode)).json;
  const { bearerToken } = (await asProgram("/v1/signin", { idToken })).json;
  const client = cloud.withToken(bearerToken as string);
  const me = await client.call(api.me.get, {});
  assert.deepEqual([me.email, me.emailVerified, me.admin], ["person-1@example.org", false, false]);
  for (const again of [await poll(deviceCode), await asProgram("/v1/signin", { idToken })])
    assert.equal(again.status, 401);
  clock.aheadNs += 89n * DAY_NS;
  await client.call(api.me.get, {});
  clock.aheadNs += DAY_NS;
  await assert.rejects(client.call(api.me.get, {}), refusedWith("Unauthenticated"));
});

test("phished codes: nothing is approved by looking, without a session, by a key or from another page, and a denied one is over", async () => {
  const member = await newMember();
  const { deviceCode, userCode } = await begin();
  await member.ask({ path: `/v1/session/device?userCode=${userCode}` });
  const body = { userCode, approve: true };
  const asking = { method: "POST", path: "/v1/session/device", body } as const;
  assert.equal((await member.ask({ ...asking, headers: { origin: "https://evil.example" } })).status, 403);
  assert.equal((await new Browser(cloud).ask(asking)).status, 401);
  const byKey = await new Browser(cloud).ask({ ...asking, headers: { authorization: `Bearer ${cloud.adminKey}` } });
  assert.equal(byKey.json.code, "WrongCredentialKind");
  assert.equal((await poll(deviceCode)).status, 403);
  assert.deepEqual((await decide(member, userCode, false)).json, { approved: false });
  assert.equal((await poll(deviceCode)).status, 401);
  assert.equal((await decide(member, userCode)).status, 404);
});

test("a program approves nothing, not even with its member's rights; neither does a browser's token that somebody took", async () => {
  const member = await newMember();
  const first = await begin();
  await decide(member, first.userCode);
  const { idToken } = (await poll(first.deviceCode)).json;
  const { bearerToken } = (await asProgram("/v1/signin", { idToken })).json;
  const { deviceCode, userCode } = await begin();
  const body = { userCode, approve: true };
  const taken = member.cookie!.split("=")[1]!;
  const tries: Readonly<Record<string, string>>[] = [
    { authorization: `Bearer ${bearerToken}` },
    { authorization: `Bearer ${taken}` },
    { cookie: `downlink_session=${bearerToken}` },
  ];
  for (const headers of tries) {
    const { json } = await new Browser(cloud).ask({ method: "POST", path: "/v1/session/device", body, headers });
    assert.equal(json.code, "WrongCredentialKind");
  }
  assert.equal((await poll(deviceCode)).status, 403);
});

test("a code is for the program that asked for it, and for ten minutes; its text for one minute and one of several", async () => {
  const member = await newMember();
  const first = await begin();
  await decide(member, first.userCode);
  assert.equal((await poll(first.deviceCode, "another program")).status, 401);
  const polled = await Promise.all([1, 2, 3].map(() => poll(first.deviceCode)));
  const [given] = polled.filter(({ status }) => status === 200);
  assert.equal(polled.filter(({ status }) => status === 200).length, 1);
  clock.aheadNs += 61n * SECOND_NS;
  assert.equal((await asProgram("/v1/signin", { idToken: given!.json.idToken })).status, 401);
  const late = await begin();
  clock.aheadNs += 600n * SECOND_NS;
  assert.equal((await decide(member, late.userCode)).status, 404);
  assert.equal((await poll(late.deviceCode)).status, 401);
  const jwt = `${btoa('{"alg":"none"}')}.${btoa('{"email":"person-1@example.org"}')}.`;
  assert.equal((await asProgram("/v1/signin", { idToken: jwt })).status, 401);
});

test("the session of a program ends with its member", async () => {
  const member = await newMember();
  const { deviceCode, userCode } = await begin();
  await decide(member, userCode);
  const { idToken } = (await poll(deviceCode)).json;
  const { bearerToken } = (await asProgram("/v1/signin", { idToken })).json;
  const client = cloud.withToken(bearerToken as string);
  const { id } = await client.call(api.me.get, {});
  await admin.call(api.members.delete, { id });
  await assert.rejects(client.call(api.me.get, {}), refusedWith("Unauthenticated"));
});

test("who guesses codes is slowed down, and so is an address that begins too many sign-ins", async () => {
  const member = await newMember();
  const statuses: number[] = [];
  for (let tries = 0; tries < 25; tries++) statuses.push((await decide(member, "BCDF-GHJK")).status);
  assert.deepEqual([statuses[0], statuses.at(-1)], [404, 429]);
  const begun: number[] = [];
  for (let tries = 0; tries < 25; tries++) begun.push((await asProgram("/v1/auth/device-code", { clientId })).status);
  assert.equal(begun.at(-1), 429);
});
