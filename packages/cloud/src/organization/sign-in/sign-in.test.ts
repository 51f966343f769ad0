import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api } from "@downlink/protocol";
import { eventually } from "@downlink/recordings/testing";
import { forgetSessions } from "../../keeping/sweep/forget-rows.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { createRunningClock } from "../../testing/test-clock.ts";
import { Browser, PASSWORD } from "./testing/browser.ts";

const SECOND_NS = 1_000_000_000n;
const HOUR_NS = 3600n * SECOND_NS;
const clock = createRunningClock();
const cloud = await startCloud({ after }, { works: false, clock });
const { admin, deps } = cloud;
let people = 0;

async function invite(role: "admin" | "user" = "user", email = `person-${++people}@example.org`) {
  const { link } = await admin.call(api.invitations.create, { email, role });
  return { email, link: link! };
}

/** Returns the browser of a new member. */
async function newMember(role: "admin" | "user" = "user") {
  const { email, link } = await invite(role);
  const browser = new Browser(cloud);
  const { status, text } = await browser.accept(link);
  assert.equal(status, 200, text);
  const { id } = (await browser.ask({ path: "/v1/me" })).json as { id: string };
  return { browser, email, id };
}

const askForWays = async (browser: Browser) =>
  (await browser.ask({ path: "/v1/session", headers: { origin: "absent" } })).json;

test("before the first person has an account, a page learns that only an API key signs in", async () => {
  assert.deepEqual(await askForWays(new Browser(cloud)), {
    passwords: true,
    oidc: false,
    accounts: false,
    signedIn: false,
  });
});

test("an invitation makes a member, whose session is an opaque cookie that no script reads", async () => {
  const { browser, email } = await newMember();
  const me = (await browser.ask({ path: "/v1/me" })).json;
  assert.deepEqual([me.email, me.admin, me.kind, me.role], [email, false, "member", "user"]);
  const { setCookie, text } = await new Browser(cloud).signIn({ email: email.toUpperCase(), password: PASSWORD });
  assert.match(setCookie!, /^downlink_session=dl_ses_\w+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=2592000$/);
  const token = setCookie!.split(/[=;]/)[1]!;
  assert.ok(!text.includes(token));
  const rows = JSON.stringify(await deps.db.prisma.$queryRaw`SELECT to_jsonb(s)::text FROM "SignInSession" s`);
  assert.ok(!rows.includes(token));
});

test("a page learns before the sign-in which ways are on, and after it that there is a session, until that ends", async () => {
  const browser = new Browser(cloud);
  const ask = () => askForWays(browser);
  const { email } = await newMember();
  assert.deepEqual(await ask(), { passwords: true, oidc: false, accounts: true, signedIn: false });
  await browser.signIn({ email, password: PASSWORD });
  assert.equal((await ask()).signedIn, true);
  const { cookie } = browser;
  await browser.ask({ method: "DELETE", path: "/v1/session" });
  browser.cookie = cookie;
  assert.equal((await ask()).signedIn, false);
});

test("the holder of an invitation sees whose it is and what accepts it, as often as they like; nobody else does", async () => {
  const look = async (link: string, headers = {}) => {
    const body = { token: link.split("#")[1] };
    return new Browser(cloud).ask({ method: "POST", path: "/v1/session/invitation/look", body, headers });
  };
  const { link, email } = await invite("admin");
  const { organization, expiresAt, ...seen } = (await look(link)).json;
  assert.deepEqual(seen, { email, role: "admin", proof: "newPassword" });
  const { orgId, orgDisplayName } = await admin.call(api.me.get, {});
  assert.deepEqual(organization, { id: orgId, name: orgDisplayName });
  assert.ok(Date.parse(expiresAt as string) > Date.now());
  assert.equal((await look(link)).status, 200);
  assert.equal((await look(link, { origin: "https://evil.example" })).status, 403);
  assert.equal((await look("#dl_inv_unknown")).status, 401);
  assert.equal((await new Browser(cloud).accept(link)).status, 200);
  assert.equal((await look(link)).status, 401);
  const other = await cloud.otherOrganization();
  const again = await other.call(api.invitations.create, { email, role: "user" });
  assert.equal((await look(again.link!)).json.proof, "password");
});

test("replay: an invitation is for one use, also of several at the same moment, and not after 7 days or when it is withdrawn", async () => {
  const { link } = await invite();
  const ends = await Promise.all([1, 2, 3].map(() => new Browser(cloud).accept(link)));
  assert.equal(ends.filter(({ status }) => status === 200).length, 1);
  assert.equal((await new Browser(cloud).accept(link)).status, 401);
  const withdrawn = await invite();
  const listed = await admin.call(api.invitations.list, {});
  assert.ok(!JSON.stringify(listed, (_name, value) => String(value)).includes("dl_inv_"));
  await admin.call(api.invitations.delete, { id: listed.find(({ email }) => email === withdrawn.email)!.id });
  assert.equal((await new Browser(cloud).accept(withdrawn.link)).status, 401);
  const old = await invite();
  clock.aheadNs += 7n * 24n * HOUR_NS;
  assert.equal((await new Browser(cloud).accept(old.link)).status, 401);
});

test("takeover: an invitation of another organization changes no password, and needs that of the account", async () => {
  const { email } = await newMember();
  const other = await cloud.otherOrganization();
  const { link } = await other.call(api.invitations.create, { email, role: "user" });
  assert.equal((await new Browser(cloud).accept(link!, "a password of the attacker")).status, 401);
  assert.equal((await new Browser(cloud).signIn({ email, password: "a password of the attacker" })).status, 401);
  assert.equal((await new Browser(cloud).signIn({ email, password: PASSWORD })).status, 200);
  const browser = new Browser(cloud);
  assert.equal((await browser.accept(link!)).status, 200);
  const { orgId } = (await browser.ask({ path: "/v1/me" })).json;
  assert.equal(orgId, (await other.call(api.me.get, {})).orgId);
  const ambiguous = await new Browser(cloud).signIn({ email, password: PASSWORD });
  assert.deepEqual([ambiguous.status, ambiguous.json.code], [400, "OrganizationRequired"]);
  const named = ambiguous.json.organizations as { id: string; name: string }[];
  assert.deepEqual(named.map(({ id }) => id).sort(), [orgId, (await admin.call(api.me.get, {})).orgId].sort());
  const guessed = await new Browser(cloud).signIn({ email, password: "wrong" });
  assert.deepEqual([guessed.status, guessed.json.organizations], [401, undefined]);
  assert.equal((await new Browser(cloud).signIn({ email, password: PASSWORD, organization: orgId })).status, 200);
});

test("CSRF: a sign-in and a change by cookie need the Origin of our own pages, and a body that is JSON", async () => {
  const { browser, email } = await newMember();
  const origins = ["absent", "null", "https://evil.example", cloud.url.replace("127.0.0.1", "localhost")];
  for (const origin of origins) {
    const body = { email, password: PASSWORD };
    const headers = { origin };
    const signIn = await new Browser(cloud).ask({ method: "POST", path: "/v1/session", body, headers });
    assert.deepEqual([signIn.status, signIn.json.code, signIn.setCookie], [403, "OriginRefused", undefined]);
    const device = { name: `robot-${origin}` };
    const change = await browser.ask({ method: "POST", path: "/v1/devices", body: device, headers });
    assert.deepEqual([change.status, change.json.code], [403, "OriginRefused"]);
    const end = await browser.ask({ method: "DELETE", path: "/v1/session", headers });
    assert.equal(end.status, 403);
  }
  const form = { "content-type": "text/plain" };
  const body = { name: "by-form" };
  assert.equal((await browser.ask({ method: "POST", path: "/v1/devices", body, headers: form })).status, 415);
  assert.equal((await browser.ask({ method: "POST", path: "/v1/session", body, headers: form })).status, 415);
  assert.equal((await browser.ask({ method: "POST", path: "/v1/devices", body })).status, 200);
  assert.deepEqual(
    (await admin.call(api.devices.list, {})).map(({ name }) => name),
    ["by-form"],
  );
});

test("a wrong Authorization header is 401, and never the cookie instead", async () => {
  const { browser } = await newMember();
  for (const authorization of ["Bearer dl_sk_wrong", "Bearer dl_ses_wrong", "Bearer ", "Basic YTpi", ""])
    assert.equal((await browser.ask({ path: "/v1/me", headers: { authorization } })).status, 401, authorization);
  assert.equal((await browser.ask({ path: "/v1/me" })).status, 200);
});

test("guessing: an unknown e-mail address is refused as a wrong password is, and after ten tries the address waits", async () => {
  const { email } = await newMember();
  const wrong = await new Browser(cloud).signIn({ email, password: "wrong" });
  const unknown = await new Browser(cloud).signIn({ email: "nobody@example.org", password: "wrong" });
  assert.deepEqual([wrong.status, wrong.text], [unknown.status, unknown.text]);
  assert.equal(wrong.status, 401);
  for (let tries = 1; tries < 10; tries++) await new Browser(cloud).signIn({ email, password: "wrong" });
  const refused = await new Browser(cloud).signIn({ email, password: PASSWORD });
  assert.deepEqual([refused.status, refused.json.code], [429, "RateLimited"]);
  assert.ok(Number(refused.retryAfter) > 0);
  clock.aheadNs += 600n * SECOND_NS;
  assert.equal((await new Browser(cloud).signIn({ email, password: PASSWORD })).status, 200);
});

test("a session ends after 12 hours without a call, and after 30 days in any case", async () => {
  const { browser } = await newMember();
  for (let hours = 0; hours < 30 * 24 - 11; hours += 11) {
    assert.equal((await browser.ask({ path: "/v1/me" })).status, 200, `${hours} h`);
    clock.aheadNs += 11n * HOUR_NS;
  }
  clock.aheadNs += 11n * HOUR_NS;
  assert.equal((await browser.ask({ path: "/v1/me" })).status, 401);
  const idle = await newMember();
  clock.aheadNs += 12n * HOUR_NS + SECOND_NS;
  assert.equal((await idle.browser.ask({ path: "/v1/me" })).status, 401);
  const alive = await newMember();
  await forgetSessions(deps.db, clock.nowNs());
  assert.equal((await alive.browser.ask({ path: "/v1/me" })).status, 200);
  assert.equal(await deps.db.prisma.signInSession.count(), 1);
});

test("sessions are listed and ended one by one, or all, and nobody ends those of others", async () => {
  const { browser, email } = await newMember();
  const [second, third, stranger] = [new Browser(cloud), new Browser(cloud), (await newMember()).browser];
  for (const one of [second, third]) await one.signIn({ email, password: PASSWORD });
  const listed = (await browser.ask({ path: "/v1/me/sessions" })).json as unknown as {
    id: string;
    isCurrent: boolean;
  }[];
  assert.deepEqual(
    listed.map(({ isCurrent }) => isCurrent),
    [true, false, false],
  );
  const path = `/v1/me/sessions/${listed[1]!.id}`;
  assert.equal((await stranger.ask({ method: "DELETE", path })).status, 404);
  assert.equal((await browser.ask({ method: "DELETE", path })).status, 200);
  assert.equal((await second.ask({ path: "/v1/me" })).status, 401);
  assert.equal((await browser.ask({ method: "DELETE", path: "/v1/me/sessions" })).json.ended, 2);
  for (const one of [browser, third]) assert.equal((await one.ask({ path: "/v1/me" })).status, 401);
  const before = stranger.cookie!;
  assert.equal((await stranger.ask({ method: "DELETE", path: "/v1/session" })).status, 200);
  stranger.cookie = before;
  assert.equal((await stranger.ask({ path: "/v1/me" })).status, 401);
});

test("a session that is exchanged from an API key has exactly its rights, at each call, and ends with it", async () => {
  const project = await admin.call(api.projects.create, { name: "of-key" });
  const key = { name: "narrow", capabilities: ["devices.list", "datasets.create"] as const, projectIds: [project.id] };
  const { id, token } = await admin.call(api.apiKeys.create, { ...key, capabilities: [...key.capabilities] });
  const browser = new Browser(cloud);
  assert.equal((await browser.signIn({ apiKey: token })).status, 200);
  assert.deepEqual((await browser.ask({ path: "/v1/devices" })).json, []);
  const dataset = await browser.ask({
    method: "POST",
    path: "/v1/datasets",
    body: { projectId: project.id, name: "d" },
  });
  assert.deepEqual([dataset.json.creatorApiKeyId, dataset.json.creatorOrgMemberId], [id, null]);
  assert.equal((await browser.ask({ path: "/v1/events" })).json.code, "MissingCapability");
  await admin.call(api.apiKeys.update, { id, capabilities: ["events.list"] });
  assert.equal((await browser.ask({ path: "/v1/devices" })).json.code, "MissingCapability");
  assert.equal((await browser.ask({ path: "/v1/events" })).status, 200);
  await admin.call(api.apiKeys.update, { id, enabled: false });
  assert.equal((await browser.ask({ path: "/v1/events" })).status, 401);
  assert.equal((await new Browser(cloud).signIn({ apiKey: token })).status, 401);
});

test("over https the cookie is only for this host and only over https", async (t) => {
  const environment = { DOWNLINK_PUBLIC_URL: "https://downlink.example.org" };
  const secure = await startCloud(t, { works: false, environment });
  const headers = { origin: "https://downlink.example.org" };
  const body = { apiKey: secure.adminKey };
  const browser = new Browser(secure);
  const { setCookie } = await browser.ask({ method: "POST", path: "/v1/session", body, headers });
  assert.match(setCookie!, /^__Host-downlink_session=dl_ses_\w+; Path=\/; HttpOnly; SameSite=Lax; Secure;/);
  assert.equal((await browser.ask({ path: "/v1/me" })).status, 200);
  browser.cookie = browser.cookie!.replace("__Host-", "");
  assert.equal((await browser.ask({ path: "/v1/me" })).status, 401);
});

test("the audit log has who signed in and out, and once in ten minutes that a wrong password was tried", async () => {
  const { browser, email, id } = await newMember("admin");
  const list = async () => {
    const { output } = await admin.callWithHeaders(api.audit.list, { limit: 1000 });
    return output
      .filter(({ actor, resourceId }) => actor.id === id || resourceId === id)
      .map(({ operation, before, after, address }) => [operation, before ?? after, address])
      .slice(1); // that the invitation was accepted
  };
  await browser.ask({ method: "DELETE", path: "/v1/session" });
  for (let n = 0; n < 3; n++) await new Browser(cloud).signIn({ email, password: "a wrong password" });
  const fields = { isOfProgram: false, address: "127.0.0.1" };
  const failed = { email, failed: "the password was wrong" };
  const found = await eventually(list, ({ length }) => length === 3);
  assert.deepEqual(found, [
    ["session.begin", fields, "127.0.0.1"],
    ["session.end", fields, "127.0.0.1"],
    ["session.begin", failed, "127.0.0.1"],
  ]);
  clock.aheadNs += 601n * SECOND_NS;
  await new Browser(cloud).signIn({ email, password: "a wrong password" });
  await eventually(list, ({ length }) => length === 4);
});

test("a sign-in ends the session that the browser had, whichever way and whoever it is; one that is refused ends none", async () => {
  const { browser, email } = await newMember();
  const elsewhere = new Browser(cloud);
  await elsewhere.signIn({ email, password: PASSWORD });
  const { link } = await invite();
  const statusOf = async (cookie: string | undefined) => {
    const holder = new Browser(cloud);
    holder.cookie = cookie;
    return (await holder.ask({ path: "/v1/me" })).status;
  };
  const first = browser.cookie;
  assert.equal((await browser.signIn({ email, password: "a wrong one" })).status, 401);
  assert.equal(await statusOf(first), 200);
  const ways = [
    () => browser.signIn({ email, password: PASSWORD }),
    () => browser.signIn({ apiKey: cloud.adminKey }),
    () => browser.accept(link),
    () => browser.signIn({ email, password: PASSWORD }),
  ];
  for (const signIn of ways) {
    const former = browser.cookie;
    assert.equal((await signIn()).status, 200);
    assert.deepEqual([await statusOf(former), await statusOf(browser.cookie)], [401, 200]);
  }
  assert.equal(await statusOf(elsewhere.cookie), 200);
});

/** Asks for an invitation without a client, which would judge the address itself. */
async function askToInvite(email: string) {
  const answer = await fetch(`${cloud.url}/v1/invitations`, {
    method: "POST",
    headers: { authorization: `Bearer ${cloud.adminKey}`, "content-type": "application/json" },
    body: JSON.stringify({ email, role: "user" }),
  });
  return { status: answer.status, json: (await answer.json()) as Record<string, string> };
}

test("an address is invited in one form, in which each way to type it signs in; what could be taken for another is refused", async () => {
  const { json } = await askToInvite("ＬＩＮＡ＠example.org");
  assert.equal((await new Browser(cloud).accept(json.link!)).status, 200);
  for (const email of ["lina@example.org", "Ｌina＠example.org"]) {
    const browser = new Browser(cloud);
    assert.equal((await browser.signIn({ email, password: PASSWORD })).status, 200, email);
    assert.equal((await browser.ask({ path: "/v1/me" })).json.email, "lina@example.org");
  }
  for (const email of ["l\u0456na@example.org", "lina\u200b@example.org"]) {
    const refused = await askToInvite(email);
    assert.deepEqual([refused.status, refused.json.code], [400, "InvalidRequest"]);
    assert.match(refused.json.error!, /email.* must be an e-mail address (in one script|without characters)/);
    assert.equal((await new Browser(cloud).signIn({ email, password: PASSWORD })).status, 401);
  }
});

test("an account from before there was one form signs in with its address, also beside one that has the form", async () => {
  for (const former of ["ｍax@example.org", "m\u0430x@example.org", "max\u200b@example.org"]) {
    const { email } = await newMember();
    await deps.db.prisma.account.updateMany({ where: { email }, data: { email: former } });
    const browser = new Browser(cloud);
    assert.equal((await browser.signIn({ email: former, password: PASSWORD })).status, 200, former);
    assert.equal((await browser.ask({ path: "/v1/me" })).json.email, former);
  }
});

test("an account that another organization made for an address does not keep its owner from an invitation", async () => {
  const email = `owner-${++people}@example.org`;
  const squatted = await cloud.otherOrganization();
  const theirs = await squatted.call(api.invitations.create, { email, role: "user" });
  const squatter = new Browser(cloud);
  assert.equal((await squatter.accept(theirs.link!, "the squatter's password")).status, 200);
  const { link } = await invite("user", email);
  const owner = new Browser(cloud);
  const accept = (password: string, more = {}) =>
    owner.ask({
      method: "POST",
      path: "/v1/session/invitation",
      body: { token: link.split("#")[1], password, ...more },
    });
  assert.equal((await accept(PASSWORD)).status, 401, "an account that exists asks for its password");
  assert.equal((await accept(PASSWORD, { separate: true })).status, 200);
  const orgOf = async (browser: Browser) => (await browser.ask({ path: "/v1/me" })).json.orgId;
  assert.notEqual(await orgOf(owner), await orgOf(squatter));
  for (const [browser, password] of [
    [owner, PASSWORD],
    [squatter, "the squatter's password"],
  ] as const) {
    const before = await orgOf(browser);
    assert.equal((await browser.signIn({ email, password })).status, 200);
    assert.equal(await orgOf(browser), before, "each password opens its own account");
  }
  assert.equal((await owner.signIn({ email, password: "neither of both" })).status, 401);
  const change = { password: "the squatter's password", newPassword: "another password" };
  const refused = await owner.ask({ method: "PUT", path: "/v1/me/password", body: change });
  assert.equal(refused.status, 403, "the password of another account is not one's own");
  const again = await invite("user", `other-${people}@example.org`);
  assert.ok(again.link);
});
