import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, test } from "node:test";
import type { Client } from "@downlink/client";
import { api } from "@downlink/protocol";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { recordingItem, sayHello, sha256 } from "../../testing/test-agent.ts";

const cloud = await startCloud({ after }, { works: false });
const { admin } = cloud;
const project = await admin.call(api.projects.create, { name: "field" });

async function unassociated(preapproved: boolean): Promise<Client> {
  const { token } = await admin.call(api.deviceTokens.create, { projectId: project.id, preapproved });
  return cloud.withToken(token!);
}

function enrolment(deviceName: string) {
  const token = `dl_dt_${randomBytes(24).toString("hex")}`;
  const body = { enrolmentId: randomBytes(12).toString("hex"), tokenSha256: sha256(token), deviceName };
  return { token, body };
}

test("a token without a device creates a device in its project, and the agent's own secret becomes the device's token", async () => {
  const { token, body } = enrolment("fresh");
  const { device, projectId } = await (await unassociated(true)).call(api.edge.enroll, body);
  assert.deepEqual([device.name, device.enabled, projectId], ["fresh", true, project.id]);
  const agent = await sayHello(cloud, { deviceId: device.id, token });
  await agent.report([recordingItem()]);
  const [listed] = await admin.call(api.deviceTokens.list, { deviceId: device.id });
  assert.equal(listed!.deviceId, device.id);
});

test("after a lost answer the same enrolment returns the same device, even twice at the same moment", async () => {
  const client = await unassociated(true);
  const { body } = enrolment("again");
  const answers = await Promise.all([1, 2, 3].map(() => client.call(api.edge.enroll, body)));
  answers.push(await client.call(api.edge.enroll, body));
  assert.equal(new Set(answers.map(({ device }) => device.id)).size, 1);
  assert.equal(
    (await admin.call(api.devices.list, { projectId: project.id })).filter(({ name }) => name === "again").length,
    1,
  );
});

test("of two agents that enrol one name at the same moment, one gets it, and the other one hears that it is taken", async () => {
  const client = await unassociated(true);
  const asked = [1, 2].map(() => client.call(api.edge.enroll, enrolment("contended").body));
  const ends = await Promise.allSettled(asked);
  const refused = ends.filter((end) => end.status === "rejected");
  assert.equal(refused.length, 1);
  assert.ok(refusedWith("NameTaken")(refused[0]!.reason));
});

test("a token without a device can only create a device: it never takes over an existing one", async () => {
  await admin.call(api.devices.create, { name: "there", projectId: project.id });
  const client = await unassociated(true);
  await assert.rejects(client.call(api.edge.enroll, enrolment("there").body), refusedWith("NameTaken"));
  await assert.rejects(client.call(api.edge.work, {}), refusedWith("DeviceTokenUnassociated"));
});

test("the token of a device creates no other device", async () => {
  const { id: deviceId } = await admin.call(api.devices.create, { name: "settled", projectId: project.id });
  const { token } = await admin.call(api.deviceTokens.create, { deviceId });
  const body = enrolment("another").body;
  await assert.rejects(cloud.withToken(token!).call(api.edge.enroll, body), refusedWith("WrongCredentialKind"));
});

test("without preapproval the device is disabled until somebody enables it: it lists its files, but delivers nothing", async () => {
  const { token, body } = enrolment("unapproved");
  const { device } = await (await unassociated(false)).call(api.edge.enroll, body);
  assert.equal(device.enabled, false);
  const agent = await sayHello(cloud, { deviceId: device.id, token });
  assert.equal(agent.hello.settings.enabled, false);
  const item = recordingItem();
  await agent.report([item]);
  const [recording] = await admin.call(api.recordings.list, { deviceId: device.id });
  await admin.call(api.recordings.requestImport, { keyOrId: recording!.id });
  const { work } = await agent.call(api.edge.work, {});
  const { versionId, size, modifiedAt } = item;
  const opening = { requestId: work.imports[0]!.requestId, versionId, size, modifiedAt };
  await assert.rejects(agent.call(api.edge.openUpload, opening), refusedWith("DeviceDisabled"));

  await admin.call(api.devices.update, { nameOrId: device.id, enabled: true });
  assert.equal((await agent.call(api.edge.work, {})).work.settings.enabled, true);
  await agent.call(api.edge.openUpload, opening);
});

test("an enrolment id alone gives no access: a caller that did not make it is refused", async () => {
  const client = await unassociated(true);
  const { body } = enrolment("guarded");
  await client.call(api.edge.enroll, body);
  const stolen = { ...body, tokenSha256: sha256("another") };
  await assert.rejects(client.call(api.edge.enroll, stolen), refusedWith("Conflict"));
  await assert.rejects((await unassociated(true)).call(api.edge.enroll, body), refusedWith("Conflict"));
});

test("an enrolment registers no hash of another token, of whatever kind, and that token stays what it is", async () => {
  const client = await unassociated(true);
  const site = await admin.call(api.sites.create, { name: "edge", type: "edge" });
  const hosted = await admin.call(api.sites.create, { name: "hosted", type: "self-hosted" });
  const { id: deviceId } = await admin.call(api.devices.create, { name: "owner", projectId: project.id });
  const ofDevice = await admin.call(api.deviceTokens.create, { deviceId });
  const ofSite = await admin.call(api.siteTokens.create, { siteId: site.id });
  const ofInbox = await admin.call(api.inboxTokens.create, { siteId: hosted.id });
  for (const token of [cloud.adminKey, ofDevice.token!, ofSite.token!, ofInbox.token!]) {
    const { body } = enrolment("squatter");
    await assert.rejects(
      client.call(api.edge.enroll, { ...body, tokenSha256: sha256(token) }),
      refusedWith("Conflict"),
    );
  }
  assert.ok((await admin.call(api.devices.list, {})).every(({ name }) => name !== "squatter"));
  await sayHello(cloud, { deviceId, token: ofDevice.token! });
  await assert.rejects(cloud.withToken(ofInbox.token!).call(api.sites.list, {}), refusedWith("WrongCredentialKind"));
});

test("of two enrolments that register one hash at the same moment, one gets it, and the other one is asked to make a new token", async () => {
  const client = await unassociated(true);
  const { tokenSha256 } = enrolment("either").body;
  const asked = ["one", "other"].map((name) => client.call(api.edge.enroll, { ...enrolment(name).body, tokenSha256 }));
  const refused = (await Promise.allSettled(asked)).filter((end) => end.status === "rejected");
  assert.equal(refused.length, 1);
  assert.ok(refusedWith("Conflict")(refused[0]!.reason));
});

test("a disabled or deleted token without a device creates nothing more, and the devices that it created go on", async () => {
  const made = await admin.call(api.deviceTokens.create, { projectId: project.id, preapproved: true });
  const { token, body } = enrolment("outlives");
  const { device } = await cloud.withToken(made.token!).call(api.edge.enroll, body);
  await admin.call(api.deviceTokens.delete, { id: made.id });
  await assert.rejects(
    cloud.withToken(made.token!).call(api.edge.enroll, enrolment("late").body),
    refusedWith("Unauthenticated"),
  );
  await sayHello(cloud, { deviceId: device.id, token });
});
