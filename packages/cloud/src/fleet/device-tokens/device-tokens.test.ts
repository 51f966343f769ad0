import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api } from "@downlink/protocol";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { helloBody } from "../../testing/test-agent.ts";

const cloud = await startCloud({ after }, { works: false });
const { admin } = cloud;
const device = await admin.call(api.devices.create, { name: "robot" });

test("a token's text is shown once, and only its hash is stored", async () => {
  const created = await admin.call(api.deviceTokens.create, { deviceId: device.id });
  assert.match(created.token!, /^dl_dt_[0-9A-Za-z]{47}$/);
  const { token: _, ...row } = created;
  assert.deepEqual(await admin.call(api.deviceTokens.get, { id: created.id }), row);
  const stored = await cloud.deps.db.prisma.deviceToken.findUniqueOrThrow({ where: { id: created.id } });
  assert.ok(
    !JSON.stringify(stored, (_key, value) => (typeof value === "bigint" ? String(value) : value)).includes(
      created.token!,
    ),
  );
});

test("a token without a device needs a project, and gives no access to an agent's calls", async () => {
  await assert.rejects(admin.call(api.deviceTokens.create, {}), refusedWith("ProjectRequired"));
  const { token, deviceId } = await admin.call(api.deviceTokens.create, {
    projectId: device.projectId,
    preapproved: true,
  });
  assert.equal(deviceId, null);
  await assert.rejects(
    cloud.withToken(token!).call(api.edge.hello, helloBody()),
    refusedWith("DeviceTokenUnassociated"),
  );
});

test("a projectId other than the device's project is refused", async () => {
  const { id: projectId } = await admin.call(api.projects.create, { name: "another" });
  await assert.rejects(
    admin.call(api.deviceTokens.create, { deviceId: device.id, projectId }),
    refusedWith("InvalidRequest"),
  );
});

test("tokens are listed by device and can be deleted", async () => {
  const { id } = await admin.call(api.deviceTokens.create, { deviceId: device.id, enabled: false });
  const listed = await admin.call(api.deviceTokens.list, { deviceId: device.id });
  assert.ok(listed.some((row) => row.id === id && !row.enabled && row.token === undefined));
  assert.deepEqual(await admin.call(api.deviceTokens.delete, { id }), { id });
  await assert.rejects(admin.call(api.deviceTokens.get, { id }), refusedWith("NotFound"));
});
