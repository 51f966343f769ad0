import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, type Capability, capabilities, type Me, type Operation, userCapabilities } from "@downlink/protocol";
import { firstCases, slowTest } from "@downlink/recordings/testing";
import { describeLimits, setQuotas } from "../../calls/quotas/set-quotas.ts";
import { makeOneOfEach } from "../../testing/one-of-each.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { Browser, PASSWORD } from "../sign-in/testing/browser.ts";

const cloud = await startCloud({ after }, { works: false });
const { admin } = cloud;
let people = 0;

async function newMember(role: "admin" | "user") {
  const email = `person-${++people}@example.org`;
  const { link } = await admin.call(api.invitations.create, { email, role });
  const browser = new Browser(cloud);
  await browser.accept(link!);
  const { id } = (await browser.ask({ path: "/v1/me" })).json as { id: string };
  return { browser, email, id };
}

const first = await newMember("admin");
const user = await newMember("user");

slowTest("a user may do all that concerns data, and nothing of people, keys, tokens, sites and projects", async () => {
  const operations = Object.values(api).flatMap((contract) => Object.values(contract) as Operation[]);
  const refused = new Set<Capability>();
  for (const { method, path, access } of operations) {
    if (access.kind !== "apiKey") continue;
    const upper = method.toUpperCase() as "GET";
    const { json } = await user.browser.ask({ method: upper, path: path.replaceAll(/\{\w+\}/g, "unknown") });
    if (json.code === "MissingCapability") refused.add(access.capability);
  }
  const served = capabilities.filter((capability) => !refused.has(capability) && capability !== "extensions.create");
  assert.deepEqual(served, [...userCapabilities].sort());
  assert.equal(
    served.some((capability) => /^(apiKeys|members|audit|siteTokens|deviceTokens)\./.test(capability)),
    false,
  );
});

test("an invite-only project is hidden from a user everywhere, until they are among its members", async () => {
  const { id: projectId } = await admin.call(api.projects.create, { name: "hidden-project", isInviteOnly: true });
  const ids = await makeOneOfEach(cloud, { client: admin, name: "hidden", projectId });
  const plain = "start=1970-01-01&end=2200-01-01&version=1";
  const reads = Object.entries(api).flatMap(([resource, contract]) =>
    Object.entries(contract as Record<string, Operation>)
      .filter(([, { method, access }]) => method === "get" && access.kind === "apiKey")
      .map(([name, { path }]) => ({ called: `${resource}.${name}`, path })),
  );
  const walk = async (calls: readonly (typeof reads)[number][]) => {
    const seen: string[] = [];
    for (const { called, path } of calls) if (await shows(path)) seen.push(called);
    return seen;
  };
  const shows = async (path: string) => {
    const kind = /\/([a-z-]+)\/\{/.exec(path)?.[1];
    const id = kind === undefined ? "" : (ids[kind] ?? assert.fail(`the test makes no ${kind}`));
    const filled = path.replace("{versionNumber}", "1").replaceAll(/\{\w+\}/g, id);
    const { text } = await user.browser.ask({ path: `${filled}?${plain}` });
    return ["hidden-", projectId, ids["site-inbox-notification-tokens"]!].some((one) => text.includes(one));
  };
  // Definitions and layouts belong to the organization, and the list of sites shows those that serve the user's projects.
  assert.deepEqual(await walk(reads), []);
  for (const filter of [`projectId=${projectId}`, `deviceName=hidden-robot`])
    assert.equal((await user.browser.ask({ path: `/v1/recordings?${filter}` })).status, 404);
  const coverage = await user.browser.ask({ path: `/v1/data/coverage?${plain}&deviceName=hidden-robot` });
  assert.equal(coverage.status, 404);
  const stream = { recordingId: ids.recordings };
  assert.equal((await user.browser.ask({ method: "POST", path: "/v1/data/stream", body: stream })).status, 404);
  const device = { name: "sneaked-in", projectId };
  assert.equal((await user.browser.ask({ method: "POST", path: "/v1/devices", body: device })).status, 404);
  assert.ok((await first.browser.ask({ path: "/v1/devices" })).text.includes("hidden-robot"));

  await admin.call(api.projectMembers.put, { id: projectId, memberIds: [user.id] });
  const shown = ["projects.list", "devices.list", "devices.get", "recordings.list", "datasets.get"];
  const ordered = reads.toSorted(
    (one, other) => Number(shown.includes(other.called)) - Number(shown.includes(one.called)),
  );
  const some = firstCases(shown.length, ordered);
  const seen = await walk(some);
  for (const called of shown) assert.ok(seen.includes(called), called);
  await admin.call(api.projectMembers.put, { id: projectId, memberIds: [] });
  assert.deepEqual(await walk(some), []);
});

test("a user who may see no project at all sees nothing, and not everything", async () => {
  const projects = await admin.call(api.projects.list, {});
  for (const { id } of projects) await admin.call(api.projects.update, { id, isInviteOnly: true });
  assert.deepEqual((await user.browser.ask({ path: "/v1/projects" })).json, []);
  assert.deepEqual((await user.browser.ask({ path: "/v1/devices" })).json, []);
  const counts = (await admin.call(api.projects.list, {})).map(({ orgMemberCount }) => orgMemberCount);
  assert.deepEqual(
    [...new Set(counts)],
    [(await admin.call(api.members.list, {})).filter(({ role }) => role === "admin").length],
  );
  for (const { id, isInviteOnly } of projects)
    if (!isInviteOnly) await admin.call(api.projects.update, { id, isInviteOnly: false });
});

test("the last admin is neither removed nor made a user, also if two admins remove each other at the same moment", async () => {
  const other = await newMember("admin");
  const remove = (browser: Browser, id: string) => browser.ask({ method: "DELETE", path: `/v1/members/${id}` });
  const ends = await Promise.all([remove(first.browser, other.id), remove(other.browser, first.id)]);
  assert.equal(ends.filter(({ status }) => status === 200).length, 1);
  const [left] = (await admin.call(api.members.list, {})).filter(({ role }) => role === "admin");
  const isConflict = (error: { code?: string }) => error.code === "Conflict";
  await assert.rejects(admin.call(api.members.delete, { id: left!.id }), isConflict);
  await assert.rejects(admin.call(api.members.update, { id: left!.id, role: "user" }), isConflict);
});

test("who is removed is out at once, and what a role may do counts from the next call", async () => {
  const { browser, id, email } = await newMember("user");
  assert.equal((await browser.ask({ path: "/v1/api-keys" })).status, 403);
  await admin.call(api.members.update, { id, role: "admin" });
  assert.equal((await browser.ask({ path: "/v1/api-keys" })).status, 200);
  await admin.call(api.members.update, { id, role: "user" });
  assert.equal((await browser.ask({ path: "/v1/api-keys" })).status, 403);
  await admin.call(api.members.delete, { id });
  assert.equal((await browser.ask({ path: "/v1/me" })).status, 401);
  assert.equal((await new Browser(cloud).signIn({ email, password: PASSWORD })).status, 401);
});

test("a key that may only invite makes nobody an admin", async () => {
  const key = cloud.withToken(await cloud.addKey(["members.create", "members.update", ...userCapabilities]));
  const lacks = (error: { code?: string }) => error.code === "MissingCapability";
  await assert.rejects(key.call(api.invitations.create, { email: "evil@example.org", role: "admin" }), lacks);
  await assert.rejects(key.call(api.members.update, { id: user.id, role: "admin" }), lacks);
  await key.call(api.invitations.create, { email: "good@example.org", role: "user" });
});

test("what a member makes names the member, and the audit log does", async () => {
  const admins = await newMember("admin");
  const made = await admins.browser.ask({ method: "POST", path: "/v1/projects", body: { name: "by-member" } });
  const [entry] = (await admin.callWithHeaders(api.audit.list, { resourceId: made.json.id as string })).output;
  assert.deepEqual(entry!.actor, { kind: "member", id: admins.id, name: admins.email });
  const body = { projectId: made.json.id, name: "by-member" };
  const dataset = (await admins.browser.ask({ method: "POST", path: "/v1/datasets", body })).json;
  assert.deepEqual([dataset.creatorApiKeyId, dataset.creatorOrgMemberId], [null, admins.id]);
  const key = { name: "by-member", capabilities: ["devices.list"] };
  const { createdBy } = (await admins.browser.ask({ method: "POST", path: "/v1/api-keys", body: key })).json;
  assert.deepEqual(createdBy, { kind: "member", id: admins.id, name: admins.email });
  const span = { start: "2026-01-01", end: "2026-01-02" };
  await admin.call(api.devices.create, { name: "by-member", projectId: made.json.id as string });
  const event = { deviceName: "by-member", projectId: made.json.id, ...span };
  const marked = (await admins.browser.ask({ method: "POST", path: "/v1/events", body: event })).json;
  assert.deepEqual(marked.createdBy, { kind: "member", id: admins.id, name: admins.email });
  const upload = { filename: "a.mcap", deviceName: "by-member", projectId: made.json.id };
  const { requestId } = (await admins.browser.ask({ method: "POST", path: "/v1/data/upload", body: upload })).json;
  const where = { id: requestId as string };
  const pending = await cloud.deps.db.prisma.importRequest.findUniqueOrThrow({ where });
  assert.deepEqual(pending.requestedBy, { kind: "member", id: admins.id, name: admins.email });
});

test("a member's own layouts are seen and changed by nobody else, and those with ORG_READ by creator and admins", async () => {
  const other = (await newMember("user")).browser;
  const admins = (await newMember("admin")).browser;
  const make = (id: string, permission: string) =>
    user.browser.ask({ method: "POST", path: "/v1/layouts", body: { id, name: id, permission, data: {} } });
  for (const [id, permission] of [
    ["own", "CREATOR_WRITE"],
    ["read", "ORG_READ"],
    ["write", "ORG_WRITE"],
  ] as const)
    assert.equal((await make(id, permission)).status, 200);
  const change = async (browser: Browser, id: string, body: unknown = { name: "changed" }) =>
    (await browser.ask({ method: "PATCH", path: `/v1/layouts/${id}`, body })).status;
  assert.deepEqual(await Promise.all(["own", "read", "write"].map((id) => change(user.browser, id))), [200, 200, 200]);
  assert.deepEqual(await Promise.all(["own", "read", "write"].map((id) => change(other, id))), [404, 403, 200]);
  assert.deepEqual(await Promise.all(["own", "read", "write"].map((id) => change(admins, id))), [404, 200, 200]);
  assert.equal(await change(other, "write", { permission: "CREATOR_WRITE" }), 403);
  for (const path of ["/v1/layouts/own", "/v1/layouts/read"])
    assert.ok([403, 404].includes((await other.ask({ method: "DELETE", path })).status));
  const listed = async (browser: Browser) => (await browser.ask({ path: "/v1/layouts" })).text.includes('"own"');
  assert.deepEqual([await listed(user.browser), await listed(other), await listed(admins)], [true, false, false]);
  assert.ok(!(await admin.call(api.layouts.list, {})).some(({ id }) => id === "own"));
});

test("beyond the allowed number of members nobody joins, however many try at once, and an invitation stays good", async () => {
  const { db } = cloud.deps;
  const { id: orgId } = await db.prisma.organization.findFirstOrThrow();
  const count = () => db.prisma.member.count({ where: { orgId } });
  const before = await count();
  const invite = async (name: string) => {
    const { link } = await admin.call(api.invitations.create, { email: `${name}@example.org` });
    return link!;
  };
  const links = await Promise.all(["late-1", "late-2", "late-3"].map(invite));
  await setQuotas(cloud.deps, orgId, { maxMembers: before });
  const refused = await new Browser(cloud).accept(links[0]!);
  assert.deepEqual([refused.status, refused.json.code], [409, "QuotaReached"]);
  assert.match(String(refused.json.error), new RegExp(`has ${before} of ${before} members`));
  const shown = await setQuotas(cloud.deps, orgId, { maxMembers: before + 1 });
  assert.match(describeLimits(shown!), new RegExp(`members {11}${before} of ${before + 1}`));
  const answers = await Promise.all(links.map((link) => new Browser(cloud).accept(link)));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409, 409]);
  assert.equal(await count(), before + 1);
  await setQuotas(cloud.deps, orgId, { maxMembers: null });
});

test("admins are shown when the last backup was made, and nobody else is", async () => {
  const { prisma } = cloud.deps.db;
  const [oneAdmin, oneUser] = [await newMember("admin"), await newMember("user")];
  const ask = async ({ browser }: typeof first) => ((await browser.ask({ path: "/v1/me" })).json as Me).backups;
  assert.deepEqual(await ask(oneAdmin), { isOverdue: false }, "there was none");
  const startedAtNs = BigInt(Date.parse("2026-01-01T02:30:00Z")) * 1_000_000n;
  await prisma.backup.create({ data: { id: "20260101t023000z", startedAtNs } });
  assert.deepEqual((await admin.call(api.me.get, {})).backups, { lastAt: startedAtNs, isOverdue: true });
  assert.equal(await ask(oneUser), undefined);
  const limited = cloud.withToken(await cloud.addKey(["members.list"]));
  assert.equal((await limited.call(api.me.get, {})).backups, undefined);
  await prisma.backup.deleteMany();
});

test("a key whose maker was removed, or is no admin any more, is shown as made by a former admin", async () => {
  const [stays, demoted, removed] = [await newMember("admin"), await newMember("admin"), await newMember("admin")];
  const makeKey = async ({ browser, email }: typeof stays) =>
    browser.ask({ method: "POST", path: "/v1/api-keys", body: { name: `key of ${email}`, capabilities: ["*"] } });
  for (const member of [stays, demoted, removed]) assert.equal((await makeKey(member)).status, 200);
  const listFormer = async () => {
    const keys = await admin.call(api.apiKeys.list, { limit: 1000 });
    return keys.filter(({ createdByFormerAdmin }) => createdByFormerAdmin).map(({ name }) => name);
  };
  assert.deepEqual(await listFormer(), []);
  await admin.call(api.members.update, { id: demoted.id, role: "user" });
  await admin.call(api.members.delete, { id: removed.id });
  assert.deepEqual(await listFormer(), [`key of ${demoted.email}`, `key of ${removed.email}`]);
});
