import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { after, afterEach, test } from "node:test";
import { api } from "@downlink/protocol";
import { eventually } from "@downlink/recordings/testing";
import { type CryptoKey, generateKeyPair, type JWTPayload } from "jose";
import { request } from "undici";
import { readConfig } from "../../config.ts";
import type { ApiError } from "../../core/errors.ts";
import { IdentityProvider } from "../../process/identity-provider/identity-provider.ts";
import { startCloud, type TestCloud } from "../../testing/start-cloud.ts";
import { createRunningClock } from "../../testing/test-clock.ts";
import { createTestDatabase } from "../../testing/test-database.ts";
import { Browser, PASSWORD } from "./testing/browser.ts";
import { RedirectedBrowser, type Visited } from "./testing/redirected-browser.ts";
import { type Person, settingsFor, TestProvider } from "./testing/test-provider.ts";

const clock = createRunningClock();
const provider = await TestProvider.start({ after });
const DATABASE_URL = await createTestDatabase({ after });
const settings = { ...settingsFor(provider.issuer), DATABASE_URL, DOWNLINK_TRUSTED_PROXIES: "127.0.0.0/8" };
const cloud = await startCloud({ after }, { works: false, clock, environment: settings });
const { admin, deps } = cloud;
provider.register(cloud.url);
afterEach(() => {
  provider.standIn = () => false;
});

interface SignIn {
  readonly person: Person;
  readonly query?: string;
  readonly browser?: RedirectedBrowser;
  readonly at?: TestCloud;
  readonly by?: TestProvider;
}

/** Goes to the provider as this person, and returns the address by which the browser comes back. */
async function goThere({ person, query = "", browser = new RedirectedBrowser(), at = cloud, by = provider }: SignIn) {
  by.person = person;
  const callback = await browser.followTo(`${at.url}/v1/session/oidc${query}`, `${at.url}/v1/session/oidc/callback`);
  return { browser, callback };
}

async function signIn(given: SignIn): Promise<Visited & { readonly browser: RedirectedBrowser }> {
  const { browser, callback } = await goThere(given);
  return { ...(await browser.visit(callback)), browser };
}

const meOf = async (browser: RedirectedBrowser, at = cloud) => (await browser.visit(`${at.url}/v1/me`)).json;
const verified = (name: string, email = `${name}@allowed.example`): Person => ({
  sub: name,
  email,
  email_verified: true,
});

function requireRefused({ status, json, setCookies }: Visited, expected: readonly [number, string]) {
  assert.deepEqual([status, json.code], expected);
  assert.ok(!setCookies.some((cookie) => cookie.includes("dl_ses_")));
  assert.ok(String(json.error).length > 20);
}

async function invite(email: string, role: "admin" | "user" = "user") {
  return (await admin.call(api.invitations.create, { email, role })).link!;
}

test("who DOWNLINK_ADMIN_EMAIL names is the admin of the first organization, only while it has no member", async () => {
  const owner = await signIn({ person: verified("owner", "owner@example.org"), query: "?next=/recordings%3Fa=1" });
  assert.deepEqual([owner.status, owner.location], [302, `${cloud.url}/recordings?a=1`]);
  const me = await meOf(owner.browser);
  assert.deepEqual([me.email, me.role], ["owner@example.org", "admin"]);
  const [entry] = await admin.call(api.audit.list, { resourceId: me.id as string });
  assert.deepEqual(entry!.after, { email: me.email, role: "admin", issuer: provider.issuer, subject: "owner" });
  assert.equal(entry!.operation, "session.finishAtProvider");
  await signIn({ person: verified("second") });
  const [second] = (await admin.call(api.members.list, {})).filter(({ email }) => email === "second@allowed.example");
  await admin.call(api.members.update, { id: second!.id, role: "admin" });
  await admin.call(api.members.delete, { id: me.id as string });
  assert.equal((await meOf(owner.browser)).code, "Unauthenticated");
  const again = await signIn({ person: verified("owner", "owner@example.org") });
  requireRefused(again, [403, "SignInRefused"]);
});

test("an invitation lets in once, an allowed domain always, and nothing else lets anybody in", async () => {
  requireRefused(await signIn({ person: verified("ada", "ada@example.org") }), [403, "SignInRefused"]);
  await invite("ada@example.org", "admin");
  const ada = await signIn({ person: verified("ada", "Ada@Example.org") });
  assert.deepEqual([ada.status, ada.location], [302, `${cloud.url}/`]);
  assert.deepEqual([(await meOf(ada.browser)).role, (await admin.call(api.invitations.list, {})).length], ["admin", 0]);
  const again = await signIn({ person: verified("ada", "ada.renamed@example.org") });
  assert.equal((await meOf(again.browser)).email, "ada@example.org");
  assert.equal((await meOf((await signIn({ person: verified("bob") })).browser)).role, "user");
  for (const email of ["e@evil-allowed.example", "e@sub.allowed.example", "e@allowed.example.evil", "e@x@evil.example"])
    requireRefused(await signIn({ person: verified("evil", email) }), [403, "SignInRefused"]);
  assert.equal(await deps.db.prisma.account.count({ where: { email: { startsWith: "e@" } } }), 0);
});

test("takeover: an unverified address opens and makes no account, and one that becomes another in small letters is none", async () => {
  const email = "kim@allowed.example";
  for (const isVerified of [false, "true", 1, undefined])
    requireRefused(await signIn({ person: { sub: "kim", email, email_verified: isVerified } }), [403, "SignInRefused"]);
  requireRefused(await signIn({ person: { sub: "kim" } }), [403, "SignInRefused"]);
  requireRefused(await signIn({ person: verified("kelvin", "\u212Aim@allowed.example") }), [403, "SignInRefused"]);
  assert.equal((await signIn({ person: verified("kim") })).status, 302);
});

test("takeover: the address of an account opens it for no other sub, no other issuer with the same sub, and no password's", async (t) => {
  const victim = await signIn({ person: verified("victim") });
  const { id } = await meOf(victim.browser);
  requireRefused(await signIn({ person: verified("other", "victim@allowed.example") }), [403, "SignInRefused"]);
  const otherIssuer = await TestProvider.start(t);
  const environment = { ...settingsFor(otherIssuer.issuer), DATABASE_URL, DOWNLINK_SIGN_IN: "oidc,passwords" };
  const second = await startCloud(t, { works: false, environment, dataDir: cloud.dataDir });
  otherIssuer.register(second.url);
  const there = { at: second, by: otherIssuer };
  requireRefused(await signIn({ person: verified("victim"), ...there }), [403, "SignInRefused"]);
  const namesake = await signIn({ person: verified("victim", "namesake@allowed.example"), ...there });
  assert.notEqual((await meOf(namesake.browser, second)).id, id);
  const withPassword = new Browser(second);
  await withPassword.accept(await invite("pat@allowed.example"));
  requireRefused(await signIn({ person: verified("pat"), ...there }), [403, "SignInRefused"]);
  await invite("pat2@allowed.example");
  assert.equal((await withPassword.signIn({ email: "pat@allowed.example", password: PASSWORD })).status, 200);
  const ofProvider = { email: "namesake@allowed.example", password: PASSWORD };
  assert.equal((await new Browser(second).signIn(ofProvider)).status, 401);
});

test("login CSRF: the code and state of one browser sign nobody in in another, with or without an attempt of its own", async () => {
  const attacker = await goThere({ person: verified("attacker") });
  requireRefused(await new RedirectedBrowser().visit(attacker.callback), [401, "Unauthenticated"]);
  const { browser, callback } = await goThere({ person: verified("target") });
  requireRefused(await browser.visit(attacker.callback), [401, "Unauthenticated"]);
  requireRefused(await browser.visit(callback), [401, "Unauthenticated"]); // the attempt ended with the first answer
  const own = await goThere({ person: verified("target") });
  const swapped = new URL(own.callback);
  swapped.searchParams.set("code", new URL(attacker.callback).searchParams.get("code")!);
  requireRefused(await own.browser.visit(swapped.href), [401, "Unauthenticated"]);
  assert.equal(await deps.db.prisma.account.count({ where: { email: "attacker@allowed.example" } }), 0);
});

test("replay: an answer counts once, also if the cookie is put back, for ten minutes, and unchanged", async () => {
  const { browser, callback } = await goThere({ person: verified("again") });
  const cookies = browser.cookiesOf(cloud.url);
  const [[name, value]] = [...cookies] as [[string, string]];
  assert.equal((await browser.visit(callback)).status, 302);
  requireRefused(await browser.visit(callback), [401, "Unauthenticated"]);
  cookies.set(name, value);
  requireRefused(await browser.visit(callback), [401, "Unauthenticated"]);
  const late = await goThere({ person: verified("again") });
  clock.aheadNs += 601_000_000_000n;
  requireRefused(await late.browser.visit(late.callback), [401, "Unauthenticated"]);
  const changed = await goThere({ person: verified("again") });
  const forged = new URLSearchParams(changed.browser.cookiesOf(cloud.url).get(name)!);
  const claims = JSON.parse(Buffer.from(forged.get("c")!, "base64url").toString()) as Record<string, string>;
  forged.set("c", Buffer.from(JSON.stringify({ ...claims, next: "//evil.example" })).toString("base64url"));
  changed.browser.cookiesOf(cloud.url).set(name, forged.toString());
  requireRefused(await changed.browser.visit(changed.callback), [401, "Unauthenticated"]);
});

test("the cookie of an attempt is short, for this host and unread by scripts; the address of the provider has PKCE, state and nonce", async () => {
  const { setCookies, location } = await new RedirectedBrowser().visit(`${cloud.url}/v1/session/oidc`);
  assert.match(setCookies[0]!, /^downlink_sign_in=[^;]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600$/);
  const asked = new URL(location!).searchParams;
  assert.equal(asked.get("code_challenge_method"), "S256");
  for (const name of ["state", "nonce", "code_challenge"]) assert.ok(asked.get(name)!.length >= 43, name);
  assert.equal(asked.get("redirect_uri"), `${cloud.url}/v1/session/oidc/callback`);
});

test("open redirect: next is a path of this service and nothing else", async () => {
  const evil = [
    "//evil.example",
    "/\\evil.example",
    "\\\\evil.example",
    "/%2fevil.example",
    "/%5Cevil.example",
    "evil",
  ];
  evil.push(
    "https://evil.example",
    "javascript:alert(1)",
    "/\t/evil.example",
    "/a/..//evil.example",
    "/a/%2e%2e//evil",
  );
  evil.push("/.//evil.example", "/@evil.example", "/\r\nSet-Cookie: a=b", "/ä", `/${"a".repeat(1000)}`);
  for (const next of evil) {
    const answer = await new RedirectedBrowser().visit(`${cloud.url}/v1/session/oidc?next=${encodeURIComponent(next)}`);
    requireRefused(answer, [400, "InvalidRequest"]);
  }
  for (const organization of ["org\u0000", "o".repeat(5000), "//"]) {
    const query = `?organization=${encodeURIComponent(organization)}`;
    requireRefused(await new RedirectedBrowser().visit(`${cloud.url}/v1/session/oidc${query}`), [
      400,
      "InvalidRequest",
    ]);
  }
  for (const next of ["/", "/p/a/recordings/b%2Fc?q=%2F%2Fx#y", "/settings"]) {
    const { location } = await signIn({ person: verified("next"), query: `?next=${encodeURIComponent(next)}` });
    assert.equal(location, `${cloud.url}${next}`);
  }
});

/** Answers in the place of the provider's token endpoint. */
function answerTokens(answer: (response: ServerResponse) => void) {
  provider.standIn = ({ url }, response) => {
    if (url === "/token") answer(response);
    return url === "/token";
  };
}

function sendJson(response: ServerResponse, body: object) {
  response.setHeader("content-type", "application/json").end(JSON.stringify(body));
}

async function finishWith(claims: (nonce: string) => JWTPayload, key?: CryptoKey): Promise<Visited> {
  const browser = new RedirectedBrowser();
  const { location } = await browser.visit(`${cloud.url}/v1/session/oidc`);
  const asked = new URL(location!).searchParams;
  const idToken = await provider.forge(claims(asked.get("nonce")!), key);
  answerTokens((response) => sendJson(response, { access_token: "a", token_type: "Bearer", id_token: idToken }));
  const back = new URLSearchParams({ code: "c", state: asked.get("state")!, iss: provider.issuer });
  return browser.visit(`${cloud.url}/v1/session/oidc/callback?${back}`);
}

test("an ID token with a forged nonce, for another client, of another issuer, too old or with an unknown key signs nobody in", async () => {
  const person = (nonce: string) => ({ ...verified("forged"), nonce });
  requireRefused(await finishWith(() => person("forged")), [401, "Unauthenticated"]);
  requireRefused(await finishWith((nonce) => ({ ...person(nonce), aud: "another" })), [401, "Unauthenticated"]);
  requireRefused(await finishWith((nonce) => ({ ...person(nonce), iss: "https://evil.example" })), [
    401,
    "Unauthenticated",
  ]);
  requireRefused(await finishWith((nonce) => ({ ...person(nonce), sub: "a\u0000b" })), [503, "Unavailable"]);
  const { privateKey } = await generateKeyPair("RS256");
  requireRefused(await finishWith(person, privateKey), [503, "Unavailable"]);
  assert.equal((await finishWith(person)).status, 302);
});

test("a provider that is away, refuses, or answers nonsense or without end is a sentence and a time, and the next sign-in works", async () => {
  const nonsense: ((response: ServerResponse) => void)[] = [
    (response) => response.destroy(),
    (response) => response.setHeader("content-type", "application/json").end("[]"),
    (response) => response.setHeader("content-type", "application/json").end("{"),
    (response) => response.writeHead(500).end("<html>"),
    (response) => response.writeHead(302, { location: "http://127.0.0.1:1/" }).end(),
    (response) => sendJson(response, { filler: "x".repeat(2 * 1024 * 1024) }),
    (response) => sendJson(response, { access_token: "a", token_type: "Bearer" }),
  ];
  for (const answer of nonsense) {
    const there = await goThere({ person: verified("patient") });
    answerTokens(answer);
    requireRefused(await there.browser.visit(there.callback), [503, "Unavailable"]);
    provider.standIn = (_request, response) => {
      answer(response);
      return true;
    };
    requireRefused(await new RedirectedBrowser().visit(`${cloud.url}/v1/session/oidc`), [503, "Unavailable"]);
    provider.standIn = () => false;
  }
  const denied = await goThere({ person: verified("patient") });
  const refusal = new URL(denied.callback);
  refusal.searchParams.delete("code");
  refusal.searchParams.set("error", "access_denied");
  const answered = await denied.browser.visit(refusal.href);
  requireRefused(answered, [401, "Unauthenticated"]);
  assert.match(String(answered.json.error), /access_denied/);
  assert.equal((await signIn({ person: verified("patient") })).status, 302);
});

test("a provider that never ends its answer is waited for only so long", async () => {
  const [clientId, redirectUri] = ["downlink", `${cloud.url}/v1/session/oidc/callback`];
  const chosen = { issuer: provider.issuer, clientId, clientSecret: undefined };
  const impatient = new IdentityProvider(chosen, deps.log, 0.2);
  for (const begin of ["", "{"]) {
    provider.standIn = (_request, response) => {
      response.setHeader("content-type", "application/json");
      if (begin !== "") response.write(begin);
      return true;
    };
    await assert.rejects(impatient.begin(redirectUri), (error: ApiError) => error.code === "Unavailable");
  }
});

test("a made-up issuer in the answer says nothing about the provider, whose description is not asked for again", async () => {
  const there = await goThere({ person: verified("issuer") });
  const asked: string[] = [];
  provider.standIn = ({ url }) => asked.push(url!) < 0;
  for (const iss of ["https://evil.example", "", undefined]) {
    const { browser } = there;
    const cookies = new Map(browser.cookiesOf(cloud.url));
    const changed = new URL(there.callback);
    if (iss === undefined) changed.searchParams.delete("iss");
    else changed.searchParams.set("iss", iss);
    requireRefused(await browser.visit(changed.href), [401, "Unauthenticated"]);
    for (const [name, value] of cookies) browser.cookiesOf(cloud.url).set(name, value);
  }
  assert.equal((await there.browser.visit(there.callback)).status, 302);
  assert.ok(!asked.some((path) => path.includes(".well-known")), asked.join());
});

test("while the provider does not answer, the sign-ins of one address leave room for those of others", async (t) => {
  const fresh = await startCloud(t, { works: false, environment: settings, dataDir: cloud.dataDir });
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  provider.standIn = (incoming, response) => {
    void released.then(() => {
      provider.standIn = () => false;
      provider.handle(incoming, response);
    });
    return true;
  };
  const seen = { refused: 0 };
  const begin = async (address: string) => {
    const headers = { "x-forwarded-for": address };
    const { statusCode, body } = await request(`${fresh.url}/v1/session/oidc`, { headers });
    await body.dump();
    if (statusCode === 429) seen.refused += 1;
    return statusCode;
  };
  const { provider: turns } = fresh.deps.turns;
  const flood = Array.from({ length: 40 }, (_, at) => begin(`2001:db8:0:9::${at + 1}`));
  await eventually(async () => seen.refused === 16, Boolean);
  const other = begin("203.0.113.5");
  await eventually(
    async () => turns.countOf("203.0.113.5"),
    (count) => count === 1,
  );
  release();
  assert.equal(await other, 302);
  assert.equal((await Promise.all(flood)).filter((status) => status === 302).length, 24);
});

test("after the provider has changed its keys the next sign-in works, or the one after it", async () => {
  assert.equal((await signIn({ person: verified("keys") })).status, 302);
  await provider.changeKeys("another", cloud.url);
  const first = await signIn({ person: verified("keys") });
  if (first.status !== 302) requireRefused(first, [503, "Unavailable"]);
  assert.equal((await signIn({ person: verified("keys") })).status, 302);
});

test("two organizations: an invitation draws nobody in unasked, and the one that is asked for is entered", async () => {
  const other = await cloud.otherOrganization();
  const { orgId } = await other.call(api.me.get, {});
  const person = verified("many");
  const { orgId: home } = await meOf((await signIn({ person })).browser);
  await other.call(api.invitations.create, { email: person.email!, role: "user" });
  assert.equal((await meOf((await signIn({ person })).browser)).orgId, home);
  const entered = await signIn({ person, query: `?organization=${orgId}` });
  assert.equal((await meOf(entered.browser)).orgId, orgId);
  const several = await signIn({ person });
  requireRefused(several, [400, "OrganizationRequired"]);
  const named = several.json.organizations as { id: string }[];
  assert.deepEqual(named.map(({ id }) => id).sort(), [home, orgId].sort());
  const strange = await signIn({ person: verified("stranger"), query: `?organization=${orgId}` });
  requireRefused(strange, [403, "SignInRefused"]);
});

test("a browser whose sign-in failed is led to the page for it, which learns why, once, and from nobody else", async () => {
  const page = "text/html,application/xhtml+xml";
  const waysOf = async (browser: RedirectedBrowser) => (await browser.visit(`${cloud.url}/v1/session`)).json;
  const { browser, callback } = await goThere({ person: verified("uninvited", "uninvited@example.org") });
  const led = await browser.visit(callback, page);
  assert.deepEqual([led.status, led.location], [302, `${cloud.url}/sign-in`]);
  assert.ok(!led.setCookies.some((cookie) => cookie.includes("dl_ses_")));
  assert.ok(led.setCookies.some((cookie) => /^downlink_sign_in=;/.test(cookie)));
  const { failure, ...ways } = await waysOf(browser);
  assert.deepEqual(ways, { passwords: false, oidc: true, accounts: true, signedIn: false });
  assert.equal((failure as { code: string }).code, "SignInRefused");
  assert.equal((await waysOf(browser)).failure, undefined);
  const bad = await browser.visit(`${cloud.url}/v1/session/oidc?next=//evil.example`, page);
  assert.deepEqual([bad.status, bad.location], [302, `${cloud.url}/sign-in`]);
  const cookies = browser.cookiesOf(cloud.url);
  const [name, value] = [...cookies].find(([one]) => one.startsWith("downlink_sign_in_failed"))!;
  const forged = new URLSearchParams(value);
  const claims = { failure: JSON.stringify({ error: "call this number", code: "Unauthenticated" }) };
  forged.set("c", Buffer.from(JSON.stringify(claims)).toString("base64url"));
  cookies.set(name, forged.toString());
  assert.equal((await waysOf(browser)).failure, undefined);
  cookies.set(name, value);
  clock.aheadNs += 301_000_000_000n;
  assert.equal((await waysOf(browser)).failure, undefined);
});

test("of first sign-ins at the same moment all end in the same account", async () => {
  await invite("race@example.org");
  const ready = [];
  for (let at = 0; at < 4; at++) ready.push(await goThere({ person: verified("race", "race@example.org") }));
  const ends = await Promise.all(ready.map(({ browser, callback }) => browser.visit(callback)));
  assert.deepEqual(
    ends.map(({ status }) => status),
    [302, 302, 302, 302],
  );
  assert.equal(await deps.db.prisma.member.count({ where: { account: { email: "race@example.org" } } }), 1);
});

test("passwords are off unless the settings say otherwise, an API key may still be exchanged, and settings that do not fit stop the start", async () => {
  const refused = await new Browser(cloud).signIn({ email: "a@example.org", password: PASSWORD });
  assert.deepEqual([refused.status, refused.json.code], [403, "SignInRefused"]);
  const link = await invite("by-password@example.org");
  assert.equal((await new Browser(cloud).accept(link)).json.code, "SignInRefused");
  const look = { method: "POST", path: "/v1/session/invitation/look", body: { token: link.split("#")[1] } } as const;
  assert.equal((await new Browser(cloud).ask(look)).json.proof, "provider");
  assert.equal((await new Browser(cloud).signIn({ apiKey: cloud.adminKey })).status, 200);
  const { DOWNLINK_SIGN_IN: _ways, ...provided } = settingsFor(provider.issuer);
  assert.throws(() => readConfig(provided), /DOWNLINK_OIDC_ISSUER: is only for/);
  assert.throws(() => readConfig({ DOWNLINK_SIGN_IN: "oidc" }), /DOWNLINK_OIDC_ISSUER: is missing/);
  assert.throws(() => readConfig({ ...provided, DOWNLINK_SIGN_IN: "oidc,magic" }), /must be passwords, oidc/);
  assert.throws(() => readConfig({ ...settingsFor("http://idp.example.org") }), /must begin with https/);
  const { signIn: usual } = readConfig({});
  assert.deepEqual([usual.takesPasswords, usual.provider], [true, undefined]);
});

test("a sign-in at the provider ends the session that the browser had", async () => {
  const { browser } = await signIn({ person: verified("again") });
  const former = browser.cookiesOf(cloud.url).get("downlink_session");
  assert.ok((await signIn({ person: verified("again"), browser })).setCookies.some((one) => one.includes("dl_ses_")));
  const asked = await request(`${cloud.url}/v1/me`, { headers: { cookie: `downlink_session=${former}` } });
  assert.deepEqual([asked.statusCode, await meOf(browser).then(({ kind }) => kind)], [401, "member"]);
  await asked.body.dump();
});
