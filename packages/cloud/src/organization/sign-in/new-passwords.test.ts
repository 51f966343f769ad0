import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, userCapabilities } from "@downlink/protocol";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { createRunningClock } from "../../testing/test-clock.ts";
import { Browser, PASSWORD } from "./testing/browser.ts";

const NEW = "staple correct horse";
const HOUR_NS = 3600n * 1_000_000_000n;
const clock = createRunningClock();
const cloud = await startCloud({ after }, { works: false, clock });
const { admin } = cloud;
let people = 0;

async function newMember(role: "admin" | "user" = "user") {
  const email = `person-${++people}@example.org`;
  const { link } = await admin.call(api.invitations.create, { email, role });
  const browser = new Browser(cloud);
  await browser.accept(link!);
  const { id } = (await browser.ask({ path: "/v1/me" })).json as { id: string };
  return { browser, email, id };
}

const tokenOf = (link: string) => link.split("#")[1]!;
const redeem = (link: string, password = NEW, headers = {}) =>
  new Browser(cloud).ask({
    method: "POST",
    path: "/v1/session/reset",
    body: { token: tokenOf(link), password },
    headers,
  });
const look = (link: string) =>
  new Browser(cloud).ask({ method: "POST", path: "/v1/session/reset/look", body: { token: tokenOf(link) } });
const statusOf = async (browser: Browser) => (await browser.ask({ path: "/v1/me" })).status;
const signIn = async (email: string, password: string) => (await new Browser(cloud).signIn({ email, password })).status;

async function entriesOf(resourceId: string) {
  const { output } = await admin.callWithHeaders(api.audit.list, { resourceId });
  return output.filter(({ operation }) => operation !== "session.begin"); // an entry of a wrong password may come late
}

/** Signs a program in as this member, up to the text that it exchanges for its session. */
async function signProgramIn(browser: Browser) {
  const asProgram = (path: string, body: unknown) => new Browser(cloud).ask({ method: "POST", path, body });
  const { deviceCode, userCode } = (await asProgram("/v1/auth/device-code", { clientId: "terminal" })).json;
  await browser.ask({ method: "POST", path: "/v1/session/device", body: { userCode, approve: true } });
  return { exchange: () => asProgram("/v1/auth/token", { deviceCode, clientId: "terminal" }), asProgram };
}

test("a forgotten password: an admin's link sets a new one, once, ends every session of the account, and both are in the audit log", async () => {
  const { browser, email, id } = await newMember();
  const program = await signProgramIn(browser);
  const { bearerToken } = (await program.asProgram("/v1/signin", { idToken: (await program.exchange()).json.idToken }))
    .json;
  const approved = await signProgramIn(browser);
  const { link, expiresAt } = await admin.call(api.members.resetPassword, { id });
  assert.equal(await statusOf(browser), 200);
  assert.deepEqual((await look(link)).json.email, email);
  assert.equal(Date.parse((await look(link)).json.expiresAt as string), Number(expiresAt / 1_000_000n));
  assert.equal((await redeem(link, NEW, { origin: "https://evil.example" })).status, 403);
  assert.equal((await redeem(link, "too short")).status, 400);
  assert.deepEqual((await redeem(link)).json, { ended: 2 });
  assert.equal(await statusOf(browser), 401);
  await assert.rejects(cloud.withToken(bearerToken as string).call(api.me.get, {}), refusedWith("Unauthenticated"));
  assert.equal((await approved.exchange()).status, 401);
  for (const answer of [await redeem(link), await look(link)]) assert.equal(answer.status, 401);
  assert.deepEqual([await signIn(email, PASSWORD), await signIn(email, NEW)], [401, 200]);
  const entries = (await entriesOf(id)).slice(-2);
  assert.deepEqual(
    entries.map(({ operation, actor }) => [operation, actor.kind]),
    [
      ["members.resetPassword", "apiKey"],
      ["session.resetPassword", "member"],
    ],
  );
  assert.ok(!JSON.stringify(entries, (_name, value) => String(value)).includes("dl_rst_"));
});

test("of several who use a link at the same moment one sets the password; a later link replaces it, and a day ends it", async () => {
  const { id } = await newMember();
  const first = await admin.call(api.members.resetPassword, { id });
  const second = await admin.call(api.members.resetPassword, { id });
  assert.equal((await redeem(first.link)).status, 401);
  const ends = await Promise.all([1, 2, 3].map(() => redeem(second.link)));
  assert.deepEqual(ends.map(({ status }) => status).sort(), [200, 401, 401]);
  const late = await admin.call(api.members.resetPassword, { id });
  clock.aheadNs += 24n * HOUR_NS;
  assert.equal((await redeem(late.link)).status, 401);
});

test("takeover: no link for who may do more, for a member of another organization, too, or for one who becomes that", async () => {
  const [chief, plain] = [await newMember("admin"), await newMember()];
  const { token } = await admin.call(api.apiKeys.create, {
    name: "people",
    capabilities: [...userCapabilities, "members.update"],
  });
  const clerk = cloud.withToken(token!);
  await assert.rejects(clerk.call(api.members.resetPassword, { id: chief.id }), refusedWith("MissingCapability"));
  const { link } = await clerk.call(api.members.resetPassword, { id: plain.id });
  const other = await cloud.otherOrganization();
  await assert.rejects(other.call(api.members.resetPassword, { id: plain.id }), refusedWith("NotFound"));
  const invited = await other.call(api.invitations.create, { email: plain.email, role: "user" });
  assert.equal((await new Browser(cloud).accept(invited.link!)).status, 200);
  assert.equal((await redeem(link)).status, 401);
  for (const client of [admin, other]) {
    const [member] = (await client.call(api.members.list, {})).filter(({ email }) => email === plain.email);
    await assert.rejects(client.call(api.members.resetPassword, { id: member!.id }), refusedWith("Conflict"));
  }
  assert.equal(
    (await plain.browser.ask({ method: "POST", path: `/v1/members/${chief.id}/password-reset` })).status,
    403,
  );
});

test("a member changes their own password: other sessions end, this one stays, and who guesses the old one is slowed down", async () => {
  const { browser, email, id } = await newMember();
  const elsewhere = new Browser(cloud);
  await elsewhere.signIn({ email, password: PASSWORD });
  const change = (password: string, newPassword = NEW, headers = {}) =>
    browser.ask({ method: "PUT", path: "/v1/me/password", body: { password, newPassword }, headers });
  assert.deepEqual((await change("wrong")).json.code, "SignInRefused");
  assert.equal((await change(PASSWORD, "too short")).status, 400);
  assert.equal((await change(PASSWORD, NEW, { origin: "https://evil.example" })).status, 403);
  assert.deepEqual((await change(PASSWORD)).json, { ended: 1 });
  assert.deepEqual([await statusOf(browser), await statusOf(elsewhere)], [200, 401]);
  assert.deepEqual([await signIn(email, PASSWORD), await signIn(email, NEW)], [401, 200]);
  const { operation, actor } = (await entriesOf(id)).at(-1)!;
  assert.deepEqual([operation, actor.kind, actor.name], ["me.changePassword", "member", email]);
  const statuses: number[] = [];
  for (let tries = 0; tries < 12; tries++) statuses.push((await change("wrong")).status);
  assert.equal(statuses.at(-1), 429);
  const { token } = await admin.call(api.apiKeys.create, { name: "key", capabilities: ["*"] });
  const passwords = { password: NEW, newPassword: PASSWORD };
  await assert.rejects(
    cloud.withToken(token!).call(api.me.changePassword, passwords),
    refusedWith("WrongCredentialKind"),
  );
});
