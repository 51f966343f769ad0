import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api } from "@downlink/protocol";
import { Command } from "commander";
import { newId } from "../db/ids.ts";
import { makeOneOfEach, storeMember } from "../testing/one-of-each.ts";
import { refusedWith } from "../testing/refused-with.ts";
import { startCloud } from "../testing/start-cloud.ts";
import { helloBody } from "../testing/test-agent.ts";
import { addOrganizationCommands } from "./add-commands.ts";

const cloud = await startCloud({ after }, { works: false });
const { admin, deps } = cloud;
const ids = await makeOneOfEach(cloud, { client: admin, name: "thing" });
const { id: orgId, name: orgName } = await deps.db.prisma.organization.findFirstOrThrow();

interface Ran {
  readonly out: string;
  readonly error: string;
  readonly exitCode: number | undefined;
}

/** A setting that a test chooses. */
const chosen: { backupSchedule?: string } = {};

/** Runs a command as the command line would, in this process. */
async function run(...words: string[]): Promise<Ran> {
  const written = { stdout: "", stderr: "" };
  const { stdout, stderr } = process;
  const writers = [stdout.write.bind(stdout), stderr.write.bind(stderr)] as const;
  // The test runner itself writes bytes.
  const keep = (to: "stdout" | "stderr") => (text: string | Uint8Array) => {
    if (typeof text !== "string") return writers[0](text);
    written[to] += text;
    return true;
  };
  const program = new Command().exitOverride().configureOutput({ writeErr: keep("stderr") });
  addOrganizationCommands(program, { beside: (use) => use({ ...deps, ...chosen }, { databaseUrl: "given" }) });
  Object.assign(stdout, { write: keep("stdout") });
  Object.assign(stderr, { write: keep("stderr") });
  try {
    await program.parseAsync(words, { from: "user" });
    return { out: written.stdout, error: written.stderr, exitCode: process.exitCode as number | undefined };
  } finally {
    [stdout.write, stderr.write] = writers;
    process.exitCode = undefined;
  }
}

const rowsOf = ({ out }: Ran) =>
  out
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
const lastEntry = async () => (await admin.call(api.audit.list, { sortOrder: "desc", limit: 1 }))[0]!;

test("keys are listed by name or id, made, disabled, enabled and deleted, each with its entry in the audit log", async () => {
  const made = await run("keys", orgName, "--create", "rescue", "--json");
  const key = rowsOf(made).find(({ name }) => name === "rescue");
  assert.equal(key.createdBy, undefined);
  const token = /dl_sk_\S+/.exec(made.error)![0];
  assert.ok(!made.out.includes(token));
  await cloud.withToken(token).call(api.devices.list, {});
  assert.deepEqual((await lastEntry()).actor, { kind: "commandLine" });

  assert.match(
    (await run("keys", orgId, "--disable", key.id)).out,
    new RegExp(`${key.id} {2}"rescue".*: disabled, everything in all projects`),
  );
  await assert.rejects(cloud.withToken(token).call(api.devices.list, {}), refusedWith(401));
  await run("keys", orgId, "--enable", key.id);
  await cloud.withToken(token).call(api.devices.list, {});
  assert.doesNotMatch((await run("keys", orgId, "--delete", key.id)).out, /rescue/);
  await assert.rejects(cloud.withToken(token).call(api.devices.list, {}), refusedWith(401));
});

test("a device is made with a token, and one command joins its robot", async () => {
  const more = ["--organization", orgName, "--project", (await deps.db.prisma.project.findFirstOrThrow()).name];
  const { out } = await run("add-device", "rover-9", ...more, "--url", "https://downlink.example.org");
  const [, token] = /echo (dl_dt_\S+) \| sudo agent enroll --url https:\/\/downlink\.example\.org --storage-root/.exec(
    out,
  )!;
  const device = await admin.call(api.devices.get, { nameOrId: "rover-9" });
  assert.ok(out.includes(device.id));
  assert.equal((await cloud.withToken(token!).call(api.edge.hello, helloBody())).device?.name, "rover-9");
  await assert.rejects(run("add-device", "rover-9", ...more), /rover-9/);
  await admin.call(api.devices.delete, { nameOrId: "rover-9" });
  await assert.rejects(run("add-device", "other", "--organization", "nobody"), /there is no organization "nobody"/);
  await assert.rejects(
    run("add-device", "other", "--project", "nothing", ...more.slice(0, 2)),
    /there is no project "nothing"/,
  );
});

test("tokens of every kind are listed; one of a device is disabled, each is deleted by its id", async () => {
  const kinds = rowsOf(await run("tokens", orgId, "--json")).map(({ id }) => id.split("_")[0]);
  assert.deepEqual([...new Set(kinds)].sort(), ["dt", "snt", "st"]);
  const id = ids["device-tokens"]!;
  assert.match(
    (await run("tokens", orgId, "--disable", id)).out,
    new RegExp(`${id} .*: disabled, device ${ids.devices}`),
  );
  for (const token of [id, ids["site-tokens"]!, ids["site-inbox-notification-tokens"]!]) {
    assert.ok(!(await run("tokens", orgId, "--delete", token)).out.includes(token));
    assert.equal((await lastEntry()).resourceId, token);
  }
  await assert.rejects(run("tokens", orgId, "--delete", "key_1"), /ids of tokens begin with dt_, st_ or snt_/);
});

test("members are invited, get roles and are removed; the last admin stays", async () => {
  const invited = await run("members", orgId, "--invite", "Ada@Example.org", "--role", "admin");
  assert.match(invited.error, /invitation \(shown once\): http\S+\/sign-in\/invitation#dl_inv_/);
  assert.equal((await lastEntry()).operation, "invitations.create");
  const id = ids.members!;
  assert.match((await run("members", orgId, "--change", id, "--role", "admin")).out, new RegExp(`${id} .*: admin`));
  const reset = await run("members", orgId, "--reset", id);
  assert.match(reset.error, /link for a new password \(shown once\): http\S+\/sign-in\/reset#dl_rst_/);
  await assert.rejects(run("members", orgId, "--remove", id), /this is the last admin/);
  await assert.rejects(run("members", orgId, "--change", id), /--change needs --role/);
  await assert.rejects(run("members", orgId, "--role", "user"), /--role needs --change/);
  await assert.rejects(run("members", orgId, "--role", "king"), /admin or user/);
});

test("a person who has left is erased: a mark is where the e-mail address was, and nowhere else", async () => {
  const leaving = await storeMember(cloud, { client: admin, name: "grace.müller+x" });
  const email = "grace.müller+x@member.example"; // letters that mean something in a pattern, and some that do not
  await run("members", orgId, "--change", leaving, "--role", "admin");
  await run("members", orgId, "--invite", `great-${email}`);
  await assert.rejects(run("members", "erase", email), /is a member of .*--remove mem_\w+\): remove the member first/);
  await run("members", orgId, "--remove", leaving);
  await deps.db.prisma.auditEntry.updateMany({ where: { resourceId: leaving }, data: { actorName: email } });
  const { out } = await run("members", "erase", "Grace.Müller+x@member.example");
  assert.match(out, /^the address is erased-[0-9a-f]{12} from now on: 0 accounts, 0 invitations, 2 entries, /);
  const everything = JSON.stringify(
    [await deps.db.prisma.auditEntry.findMany(), await deps.db.prisma.account.findMany()],
    (_name, value) => (typeof value === "bigint" ? String(value) : value),
  );
  assert.ok(!everything.replaceAll(`great-${email}`, "").includes(email));
  assert.ok(everything.includes(`great-${email}`), "another address that ends like it stays");
  assert.equal(
    (await deps.db.prisma.auditEntry.findMany({ where: { actorName: /erased-\w+/.exec(out)![0] } })).length,
    2,
  );
});

test("an organization or a thing that is not there is refused with a sentence, and another one's is not touched", async () => {
  await assert.rejects(run("keys", "nobody"), /there is no organization "nobody"/);
  const other = await cloud.otherOrganization();
  const [theirs] = await other.call(api.apiKeys.list, {});
  await assert.rejects(run("keys", orgId, "--delete", theirs!.id), /API key/);
  await other.call(api.devices.list, {});
});

test("imports are counted over all organizations, failed ones are listed with the reason and tried again", async () => {
  const { id: siteId } = await deps.db.prisma.site.findFirstOrThrow({ where: { orgId, type: "service-hosted" } });
  const about = { orgId, siteId, source: "upload", state: "error", pipelineStage: "", filename: "a\nb.mcap" } as const;
  const data = {
    id: "req_failed",
    ...about,
    errorCode: "Damaged",
    errorText: "it is",
    createdAtNs: 1n,
    updatedAtNs: 1n,
  };
  await deps.db.prisma.importRequest.create({ data });
  const shown = await run("imports");
  assert.match(shown.out, /^error: 1$/m);
  assert.match(shown.out, /^1970-01-01T00:00:00Z {2}org_\w+ {2}req_failed "a\\nb.mcap": Damaged: it is$/m);
  assert.equal(
    rowsOf(await run("imports", "--json")).find(({ requestId }) => requestId === "req_failed").errorCode,
    "Damaged",
  );
  const retried = await run("imports", "--retry", "all");
  assert.match(
    retried.out,
    /^req_failed: the file of import request req_failed is no longer stored; upload it again$/m,
  );
  assert.equal(retried.exitCode, 1);
  await assert.rejects(run("imports", "--retry", "req_unknown"), /there is no import req_unknown/);
});

/** Makes a webhook in some state. */
async function makeWebhook(name: string, state: object): Promise<string> {
  const url = "https://hooks.example.org/secret-path";
  const { id } = await admin.call(api.webhooks.create, { name, url, eventTypes: ["dataset.committed"] });
  await deps.db.prisma.webhook.update({ where: { id }, data: state });
  return id;
}

/** Makes a delivery whose event occurred some hours ago, and that was attempted at once. */
async function makeDelivery(webhookId: string, state: "waiting" | "failed" | "delivered", ageHours: number) {
  const occurredAtNs = deps.clock.nowNs() - BigInt(ageHours) * 3_600_000_000_000n;
  const event = { id: newId("whev"), orgId, type: "recording.imported", payload: {}, occurredAtNs };
  await deps.db.prisma.outboxEvent.create({ data: event });
  const attempt = { attempts: 1, attemptedAtNs: occurredAtNs, statusCode: 503, error: "no", answer: "later" };
  const data = { webhookId, eventId: event.id, state, dueAtNs: deps.clock.nowNs(), ...attempt };
  await deps.db.prisma.webhookDelivery.create({ data });
}

test("webhooks are listed over all organizations with state, waiting and failed deliveries, and the last answer", async () => {
  const gone = await makeWebhook("gone", { enabled: false, disabledReason: "the receiver answered 410 Gone" });
  const off = await makeWebhook("off", { enabled: false });
  const failing = await makeWebhook("failing", { failingSinceNs: 1n });
  await makeDelivery(failing, "failed", 60);
  await makeDelivery(failing, "failed", 70);
  await makeDelivery(failing, "waiting", 5);
  await makeDelivery(failing, "delivered", 6);
  const shown = await run("webhooks");
  const start = (id: string, name: string) => `${id}  ${orgId}  "${name}" hooks.example.org: `;
  const [first, second] = shown.out.split("\n");
  const nothing = "0 wait; 0 failed; nothing was sent yet";
  assert.equal(first, `${start(gone, "gone")}disabled: the receiver answered 410 Gone; ${nothing}`);
  const [begin, end] = second!.split("last answer at ");
  const state = "enabled, every attempt failed since 1970-01-01T00:00:00Z";
  const counts = "1 wait (the oldest for 5 h); 2 failed (the oldest for 2 days)";
  assert.equal(begin, `${start(failing, "failing")}${state}; ${counts}; `);
  assert.match(end!, /^\S+Z: 503 "later"$/);
  assert.ok(shown.out.includes(`${start(off, "off")}disabled by its organization; ${nothing}\n`));
  assert.match(shown.out, new RegExp(`^${ids.webhooks} .*: enabled; .*; nothing was sent yet$`, "m"));
  assert.equal(shown.exitCode, 1, "the service disabled one");
  assert.ok(!shown.out.includes("secret-path"), "an address may hold a secret after its host");
  const json = rowsOf(await run("webhooks", "--json", "--limit", "2"));
  assert.partialDeepStrictEqual(json, [
    { id: gone, enabled: false, disabledReason: "the receiver answered 410 Gone", waiting: 0, failed: 0 },
    {
      id: failing,
      orgId,
      host: "hooks.example.org",
      waiting: 1,
      failed: 2,
      last: { statusCode: 503, answer: "later" },
    },
  ]);
  assert.deepEqual([json[1].oldestWaitingSeconds >= 5 * 3600, json[1].oldestFailedSeconds >= 70 * 3600], [true, true]);
  for (const id of [gone, off, failing]) await admin.call(api.webhooks.delete, { id });
});

test("the failed deliveries of a webhook are sent again by its id, and not those of a disabled one", async () => {
  const id = await makeWebhook("mended", {});
  for (const state of ["failed", "failed", "delivered"] as const) await makeDelivery(id, state, 1);
  assert.equal((await run("webhooks", "--retry", id)).out, "2 deliveries are sent again now\n");
  const states = (await admin.call(api.webhooks.listDeliveries, { id })).map(({ state }) => state);
  assert.deepEqual(states.sort(), ["delivered", "waiting", "waiting"]);
  await admin.call(api.webhooks.update, { id, enabled: false });
  await assert.rejects(run("webhooks", "--retry", id), /webhook wh_\w+ is disabled; enable it first/);
  await assert.rejects(run("webhooks", "--retry", "wh_unknown"), /there is no webhook wh_unknown/);
  await admin.call(api.webhooks.delete, { id });
});

test("the status counts what is there, and exits with 1 if something needs an operator", async () => {
  const calm = await run("status");
  assert.match(calm.out, /^database {6}of DATABASE_URL, Postgres \d+/);
  assert.match(calm.out, /^backups {7}none was ever made \(downlink admin backup\)$/m);
  assert.match(calm.out, /^nothing needs an operator$/m);
  assert.equal(calm.exitCode, undefined);
  await deps.db.prisma.deployment.update({ where: { id: 1 }, data: { conflict: "two databases" } });
  const [status] = rowsOf(await run("status", "--json"));
  assert.deepEqual(status.problems, ["nothing is destroyed: two databases"]);
  assert.equal(status.counts.devices, 1);
  assert.equal((await run("status")).exitCode, 1);
  await deps.db.prisma.deployment.update({ where: { id: 1 }, data: { conflict: null } });
});

test("the status names the last backup, and backups that stopped need an operator", async () => {
  const { prisma } = deps.db;
  chosen.backupSchedule = "30 2 * * *";
  assert.equal((await run("status")).exitCode, undefined, "the deployment is new");
  await prisma.organization.updateMany({ data: { createdAtNs: 0n } });
  assert.match((await run("status")).out, /^NEEDS YOU: no backup was ever made \(/m);
  await prisma.backup.create({ data: { id: "20260101t023000z", startedAtNs: deps.clock.nowNs() } });
  assert.equal((await run("status")).exitCode, undefined);
  await prisma.backup.updateMany({ data: { startedAtNs: BigInt(Date.parse("2026-01-01T02:30:00Z")) * 1_000_000n } });
  const late = await run("status");
  assert.equal(late.exitCode, 1);
  assert.match(late.out, /^backups {7}the last one is of 2026-01-01T02:30:00Z$/m);
  assert.match(late.out, /^NEEDS YOU: no backup since 2026-01-01T02:30:00Z \(/m);
  await prisma.backup.deleteMany();
});
