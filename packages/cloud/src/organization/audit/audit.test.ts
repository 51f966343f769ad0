import assert from "node:assert/strict";
import { after, test } from "node:test";
import {
  type AuditEntry,
  api,
  type CallInput,
  type Contract,
  type Operation,
  TrainingMapping,
} from "@downlink/protocol";
import { makeMcap } from "@downlink/recordings/testing";
import { setQuotas } from "../../calls/quotas/set-quotas.ts";
import { forgetAuditEntries } from "../../keeping/sweep/forget-rows.ts";
import { hashToken } from "../../process/credentials/mint.ts";
import { makeOneOfEach, storeMember } from "../../testing/one-of-each.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { uploadFile } from "../../testing/upload-file.ts";
import { makeZip } from "../extensions/testing/make-zip.ts";
import { describeEntries } from "./audit-command.ts";

const cloud = await startCloud({ after });
const { admin, deps } = cloud;
const { id: callerId } = await admin.call(api.me.get, {});
const ids = await makeOneOfEach(cloud, { client: admin, name: "thing" });
const extensionId = await publish();
const leaving = await storeMember(cloud, { client: admin, name: "leaving" });
const bucketSite = await makeBucketSite();
const { recordingId: imported } = await uploadFile(cloud, await makeMcap({ seed: 1 }), {
  filename: "a",
  deviceName: "other",
});
const { id: staged } = await admin.call(api.datasets.create, {
  projectId: ids.projects!,
  name: "staged",
  episodeIds: [ids.episodes!],
});
const { id: loose } = await makeLooseEpisode();
const training = await prepareTraining();
const { id: savedViewId } = await admin.call(api.savedViews.create, { name: "view", path: "/recordings", query: "" });
const sessionId = await beginSession();
const anotherImportId = await importAnother();
const { importId } = await deps.db.prisma.recording.findUniqueOrThrow({ where: { id: imported! } });
await admin.call(api.customProperties.create, {
  key: "serial",
  label: "s",
  valueType: "string",
  resourceType: "device",
});
await admin.call(api.devices.create, { name: "empty" });
const deliveryId = await failDelivery();
const edgeSite = await admin.call(api.sites.create, { name: "mine", type: "edge" });

async function publish(): Promise<string> {
  const manifest = { name: "panel", version: "1.0.0", publisher: "us", displayName: "Panel" };
  const body = makeZip([{ name: "package.json", content: JSON.stringify(manifest) }]);
  const headers = { authorization: `Bearer ${cloud.adminKey}`, "content-type": "application/octet-stream" };
  const published = await fetch(`${cloud.url}/v1/extension-upload`, { method: "POST", body, headers });
  return ((await published.json()) as { id: string }).id;
}

/** Commits a version with an episode whose data is here, and keeps a mapping for it. */
async function prepareTraining() {
  const projectId = ids.projects!;
  const file = { filename: "train", deviceName: "other" };
  const { recordingId } = await uploadFile(cloud, await makeMcap({ seed: 3 }), file);
  const item = { recordings: [recordingId!] };
  const { episodes } = await admin.call(api.episodes.getOrCreate, { projectId, episodes: [item] });
  const { id } = await admin.call(api.datasets.create, { projectId, name: "train", episodeIds: [episodes[0]!.id] });
  await admin.call(api.datasetVersions.commit, { id });
  const features = { state: { dtype: "float32", parts: [{ topic: "/imu" }] } };
  const mapping = TrainingMapping.parse({ fps: 10, features });
  const { id: mappingId } = await admin.call(api.datasetMappings.create, { id, name: "imu", mapping });
  return { id, versionNumber: 1, mappingId };
}

async function makeBucketSite(): Promise<string> {
  const { id: orgId } = await deps.db.prisma.organization.findFirstOrThrow();
  const data = { id: "site_bucket", orgId, name: "bucket", type: "byob", createdAtNs: 1n } as const;
  return (await deps.db.prisma.site.create({ data })).id;
}

async function makeLooseEpisode(): Promise<{ readonly id: string }> {
  const item = { recordings: [imported!] };
  const { episodes } = await admin.call(api.episodes.getOrCreate, { projectId: ids.projects!, episodes: [item] });
  return episodes[0]!;
}

async function importAnother(): Promise<string> {
  const another = { filename: "b", deviceName: "other" };
  const { recordingId } = await uploadFile(cloud, await makeMcap({ seed: 2 }), another);
  const { importId: id } = await deps.db.prisma.recording.findUniqueOrThrow({ where: { id: recordingId! } });
  return id!;
}

/** Exchanges the key for a session of its own. */
async function beginSession(): Promise<string> {
  const headers = { "content-type": "application/json", origin: cloud.url };
  await fetch(`${cloud.url}/v1/session`, { method: "POST", headers, body: JSON.stringify({ apiKey: cloud.adminKey }) });
  return (await admin.call(api.me.listSessions, {}))[0]!.id;
}

async function failDelivery(): Promise<string> {
  const { id } = await admin.call(api.webhooks.ping, { id: ids.webhooks! });
  await deps.db.prisma.webhookDelivery.updateMany({ data: { state: "failed" } });
  return id;
}

async function entries(filter: CallInput<typeof api.audit.list> = {}): Promise<AuditEntry[]> {
  return (await admin.callWithHeaders(api.audit.list, filter)).output;
}

/** A call of each administrative operation that succeeds, in the order in which they are made. */
const calls: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  "projects.create": { name: "new" },
  "projects.update": { id: ids.projects, name: "renamed" },
  "apiKeys.create": { name: "new", capabilities: ["devices.list"] },
  "apiKeys.update": { id: ids["api-keys"], name: "renamed" },
  "apiKeys.delete": { id: ids["api-keys"] },
  "devices.releaseAgent": { nameOrId: "thing-robot" },
  "agentSettings.put": { nameOrId: "thing-robot", uploadConcurrency: 2 },
  "agentSettings.putOfSite": { id: edgeSite.id, uploadConcurrency: 2 },
  "deviceTokens.create": { deviceId: ids.devices },
  "deviceTokens.update": { id: ids["device-tokens"], enabled: false },
  "deviceTokens.delete": { id: ids["device-tokens"] },
  "customProperties.create": { key: "new", label: "new", valueType: "string", resourceType: "device" },
  "customProperties.update": { id: ids["custom-properties"], label: "renamed" },
  "customProperties.delete": { id: ids["custom-properties"] },
  "eventTypes.create": { name: "new", customProperties: [] },
  "eventTypes.update": { id: ids["event-types"], name: "renamed" },
  "eventTypes.delete": { id: ids["event-types"] },
  "sites.create": { name: "new", type: "edge" },
  "sites.update": { id: edgeSite.id, name: "renamed" },
  "sites.releaseAgent": { id: edgeSite.id },
  "sites.revokeKeys": { id: ids.sites },
  "siteTokens.create": { siteId: ids.sites },
  "siteTokens.delete": { id: ids["site-tokens"] },
  "inboxTokens.create": { siteId: ids.sites },
  "inboxTokens.delete": { id: ids["site-inbox-notification-tokens"] },
  "ingestPathPolicies.save": { id: bucketSite, schemaVersion: 1, rules: [] },
  "extensions.delete": { id: extensionId },
  "members.resetPassword": { id: ids.members },
  "members.update": { id: ids.members, role: "admin" },
  "invitations.create": { email: "new@example.org" },
  "invitations.delete": { id: ids.invitations },
  "projectMembers.put": { id: ids.projects, memberIds: [ids.members] },
  "members.delete": { id: leaving },
  "sites.delete": { id: edgeSite.id },
  "webhooks.create": { name: "new", url: "https://example.org", eventTypes: ["device.created"] },
  "webhooks.update": { id: ids.webhooks, name: "renamed" },
  "webhooks.rotateSecret": { id: ids.webhooks },
  "webhooks.ping": { id: ids.webhooks },
  "webhooks.retryFailed": { id: ids.webhooks },
  "webhooks.retryDelivery": { id: ids.webhooks, deliveryId },
  "webhooks.delete": { id: ids.webhooks },
  "viewLinks.create": { recordingId: imported },
  "exports.create": { recordingId: imported },
  "recordingFiles.link": { keyOrId: imported },
  "viewLinks.delete": { id: ids["view-links"] },
  "layouts.delete": { id: ids.layouts },
  "layouts.restore": { id: ids.layouts },
  "datasets.create": { projectId: ids.projects, name: "new" },
  "datasets.update": { id: ids.datasets, name: "renamed" },
  "datasetVersions.commit": { id: staged },
  "datasetVersions.discard": { id: ids.datasets },
  "datasetVersions.restore": { id: ids.datasets, versionNumber: 1 },
  "trainingSets.create": training,
  "trainingSets.stream": { id: ids["training-sets"] },
  "trainingSets.delete": { id: ids["training-sets"] },
  "datasets.delete": { id: ids.datasets },
  "episodes.delete": { id: loose },
  "events.delete": { id: ids.events },
  "imports.delete": { importId },
  "imports.deleteMany": { id: [anotherImportId] },
  "recordings.delete": { keyOrId: ids.recordings },
  "sessions.delete": { keyOrId: ids.sessions },
  "savedViews.delete": { id: savedViewId },
  "me.endSession": { id: sessionId },
  "me.endSessions": {},
  "devices.create": { name: "new", projectId: ids.projects },
  "devices.update": { nameOrId: "thing-robot", retainRecordingsSeconds: 60 },
  "devices.setPastProperty": { nameOrId: "thing-robot", start: 1n, end: 2n, key: "serial" },
  "devices.delete": { nameOrId: "empty" },
};

/** Their answers show something else than the thing, such as what came of the call. */
const withOtherAnswer = ["devices.setPastProperty", "layouts.restore", "webhooks.ping", "webhooks.retryFailed"].concat(
  ["webhooks.retryDelivery", "datasetVersions.commit", "datasetVersions.discard", "datasetVersions.restore"],
  ["ingestPathPolicies.save", "recordingFiles.link", "trainingSets.create", "trainingSets.stream"],
);

const audited = Object.entries(api).flatMap(([resource, contract]) =>
  Object.entries(contract as Contract).flatMap(([name, operation]) =>
    operation.audits === undefined ? [] : [{ called: `${resource}.${name}`, operation }],
  ),
);

/** Only a member has a password; see the test below. */
const OF_MEMBERS = "me.changePassword";

test("the walk calls every audited operation of the contract", () =>
  assert.deepEqual([...Object.keys(calls), OF_MEMBERS].sort(), audited.map(({ called }) => called).sort()));

for (const [called, input] of Object.entries(calls)) {
  test(`${called} writes one entry, which says who changed what`, async () => {
    const { operation } = audited.find((one) => one.called === called)!;
    const before = new Set((await entries()).map(({ id }) => id));
    const answer = (await admin.call(operation as Operation, input as never)) as unknown as Record<string, unknown>;
    const [entry, ...more] = (await entries()).filter(({ id }) => !before.has(id));
    assert.deepEqual(more, []);
    assert.deepEqual([entry!.operation, entry!.resourceKind], [called, operation.audits]);
    assert.equal(entry!.actor.name, "admin");
    assert.match(`${entry!.address} ${entry!.requestId}`, /^127\.0\.0\.1 \S+$/);
    const isNew = !operation.path.includes("{") && operation.method !== "delete";
    assert.equal(entry!.before === undefined, isNew || withOtherAnswer.includes(called));
    assert.equal(entry!.after === undefined, operation.method === "delete");
    assert.ok(namesOf(input, answer).includes(entry!.resourceId), entry!.resourceId);
  });
}

/** The thing is named by the call, by the answer, or is the caller's. */
function namesOf(input: Readonly<Record<string, unknown>>, answer: Readonly<Record<string, unknown>> | undefined) {
  return [input.id, input.importId, input.keyOrId, answer?.id, ids.devices, ids.recordings, ids.sessions, callerId];
}

test("an update shows what it replaced and nothing else, and no entry holds a secret", async () => {
  const { id, token } = await admin.call(api.apiKeys.create, { name: "one", capabilities: ["devices.list"] });
  await admin.call(api.apiKeys.update, { id, name: "two", enabled: false });
  const [made, changed] = await entries({ resourceId: id });
  assert.deepEqual(changed!.before, { name: "one", enabled: true });
  assert.deepEqual(changed!.after, { name: "two", enabled: false });
  assert.equal(made!.after!.name, "one");
  const all = JSON.stringify(await deps.db.prisma.auditEntry.findMany(), (_name, value) =>
    typeof value === "bigint" ? String(value) : value,
  );
  assert.ok(!all.includes(token!) && !all.includes(hashToken(token!)) && !/dl_(sk|dt|st|snt)_|whsec_/.test(all));
});

test("a refused change and a repeat with the same Idempotency-Key write no entry", async () => {
  const count = (await entries()).length;
  await assert.rejects(admin.call(api.projects.create, { name: "renamed" }));
  await assert.rejects(admin.call(api.apiKeys.delete, { id: "key_unknown" }));
  const body = JSON.stringify({ name: "once" });
  const headers = { authorization: `Bearer ${cloud.adminKey}`, "content-type": "application/json" };
  const post = () =>
    fetch(`${cloud.url}/v1/projects`, { method: "POST", body, headers: { ...headers, "idempotency-key": "same" } });
  const answers = [await post(), await post()];
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200],
  );
  assert.equal((await entries()).length, count + 1);
});

test("an entry that cannot be written undoes the change", async () => {
  const { prisma } = deps.db;
  await prisma.$executeRaw`ALTER TABLE "AuditEntry" ADD CONSTRAINT closed CHECK ("operation" <> 'projects.create') NOT VALID`;
  await assert.rejects(admin.call(api.projects.create, { name: "unwritten" }));
  await prisma.$executeRaw`ALTER TABLE "AuditEntry" DROP CONSTRAINT closed`;
  assert.equal(await prisma.project.count({ where: { name: "unwritten" } }), 0);
});

test("of changes at the same moment each entry shows what it replaced", async () => {
  const { id } = await admin.call(api.projects.create, { name: "0" });
  const names = ["1", "2", "3", "4", "5"];
  await Promise.all(names.map((name) => admin.call(api.projects.update, { id, name })));
  const steps = (await entries({ resourceId: id, operation: "projects.update" })).map(({ before, after }) =>
    [before!.name, after!.name].join(),
  );
  const froms = steps.map((step) => step.split(",")[0]!);
  assert.deepEqual([...new Set(froms)].length, names.length);
});

test("a published extension, an enrolled device and the command line are written, too", async () => {
  assert.equal((await entries({ resourceId: extensionId }))[0]!.operation, "extensions.publish");
  const { token } = await admin.call(api.deviceTokens.create, { projectId: ids.projects });
  const tokenSha256 = hashToken(`dl_dt_${"x".repeat(40)}`);
  const enrolled = { enrolmentId: "e".repeat(24), tokenSha256, deviceName: "enrolled" };
  const { device } = await cloud.withToken(token!).call(api.edge.enroll, enrolled);
  await cloud.withToken(token!).call(api.edge.enroll, enrolled);
  assert.deepEqual(
    (await entries({ resourceId: device.id })).map(({ actor }) => actor.kind),
    ["agent"],
  );
  const { id: orgId } = await deps.db.prisma.organization.findFirstOrThrow();
  await setQuotas(deps, orgId, { maxExports: 3 });
  const [limited] = await entries({ operation: "limits" });
  assert.deepEqual(
    [limited!.actor, limited!.before, limited!.after],
    [{ kind: "commandLine" }, { maxExports: null }, { maxExports: 3 }],
  );
  assert.equal((await entries({ operation: "create-org" })).length, 1);
  const lines = await describeEntries(deps.db, false);
  assert.match(lines.at(-1)!, /^\S+Z {2}org_\w+ {2}commandLine: limits organization org_\w+$/);
  const [json] = (await describeEntries(deps.db, true)).slice(-1);
  assert.equal((JSON.parse(json!) as { operation: string }).operation, "limits");
});

test("the list is cut into pages, filtered, and only of the own organization", async () => {
  const all = await entries();
  const seen: string[] = [];
  for (let cursor: string | undefined; ; ) {
    const { output, headers } = await admin.callWithHeaders(api.audit.list, { limit: 7, cursor });
    seen.push(...output.map(({ id }) => id));
    cursor = headers["x-pagination-next-cursor"];
    if (cursor === undefined) break;
  }
  assert.deepEqual(
    seen,
    all.map(({ id }) => id),
  );
  const kinds = new Set((await entries({ resourceKind: "site" })).map(({ resourceKind }) => resourceKind));
  assert.deepEqual([...kinds], ["site"]);
  const middle = all[10]!.at;
  assert.ok((await entries({ start: middle })).every(({ at }) => at >= middle));
  assert.deepEqual((await entries({ sortOrder: "desc", limit: 1 }))[0], all.at(-1));
  const other = await cloud.otherOrganization();
  const theirs = (await other.callWithHeaders(api.audit.list, {})).output;
  assert.deepEqual(
    theirs.map(({ operation }) => operation),
    ["create-org"],
  );
});

test("entries that are too old are removed, and no others", async () => {
  const all = await entries();
  const middle = all[5]!.at;
  await forgetAuditEntries(deps.db, middle);
  assert.deepEqual(
    (await entries()).map(({ id }) => id),
    all.filter(({ at }) => at >= middle).map(({ id }) => id),
  );
});

test("a deletion that found nothing writes no entry", async () => {
  const count = (await entries()).length;
  const { deletionResults } = await admin.call(api.imports.deleteMany, { id: ["imp_unknown"] });
  assert.deepEqual(deletionResults, [{ importId: "imp_unknown", result: "notFound" }]);
  assert.equal((await entries()).length, count);
});

test("a field of many kilobytes is left out of an entry, which says so", async () => {
  const metadata = { note: "x".repeat(20_000) };
  const { id } = await admin.call(api.events.create, { deviceId: ids.devices!, start: 1n, end: 2n, metadata });
  await admin.call(api.events.delete, { id });
  const [entry] = await entries({ resourceId: id });
  assert.equal(entry!.before!.metadata, "left out: 20011 characters");
  assert.equal(entry!.before!.id, id);
});
