import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, type ErrorCode } from "@downlink/protocol";
import { slowTest } from "@downlink/recordings/testing";
import { newId } from "../../db/ids.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { askForFile } from "../../testing/test-agent.ts";
import { putFile } from "../../testing/upload-file.ts";
import type { Quotas } from "./require-room.ts";
import { describeLimits, setQuotas } from "./set-quotas.ts";

const cloud = await startCloud({ after }, { works: false });
const { prisma } = cloud.deps.db;
const { id: deviceId, orgId } = await cloud.admin.call(api.devices.create, { name: "robot" });
const none: Quotas = { maxStoredBytes: null, maxRecordings: null, maxExports: null, maxMembers: null };

function allow(quotas: Partial<Quotas>) {
  return setQuotas(cloud.deps, orgId, { ...none, ...quotas });
}

function refused(status: number, figure: RegExp) {
  return (error: { code: ErrorCode; status: number; message: string; retryAfterMs?: number }) => {
    assert.deepEqual([error.code, error.status], ["QuotaReached", status]);
    assert.match(error.message, figure);
    return (error.retryAfterMs ?? 0) > 0;
  };
}

function upload(filename: string) {
  return cloud.admin.call(api.uploads.create, { deviceId, filename });
}

test("an upload is refused if the organization stores as much as it may: 507 with the figures, and is accepted once there is room", async () => {
  await allow({});
  const { link } = await upload("a.mcap");
  await allow({ maxStoredBytes: 10n });
  const tooLong = await putFile(link, "x".repeat(11));
  assert.deepEqual([tooLong.status, ((await tooLong.json()) as { code: string }).code], [507, "QuotaReached"]);
  assert.equal((await putFile(link, "x".repeat(10))).status, 200);
  await assert.rejects(upload("b.mcap"), refused(507, /stores 10 of 10 bytes/));
  await allow({ maxStoredBytes: 11n });
  await upload("b.mcap");
});

slowTest("an agent's upload is refused before its first byte, and one that is open goes on", async () => {
  await allow({});
  const [first, second] = [await askForFile(cloud, "first"), await askForFile(cloud, "second")];
  const opened = await first.agent.call(api.edge.openUpload, first.version);
  await allow({ maxStoredBytes: 1010n });
  await assert.rejects(second.agent.call(api.edge.openUpload, second.version), refused(507, /this file has 1000/));
  assert.equal((await first.agent.call(api.edge.openUpload, first.version)).uploadId, opened.uploadId);
  await allow({ maxStoredBytes: 2010n });
  await second.agent.call(api.edge.openUpload, second.version);
});

test("beyond the allowed number of recordings with data a new one is 409; recordings without data are not counted", async () => {
  const { agent, version, recordingId } = await askForFile(cloud, "third");
  await allow({ maxRecordings: 1 });
  await upload("c.mcap");
  await prisma.recording.update({ where: { id: recordingId }, data: { blobKey: `${orgId}/${newId("upl")}` } });
  await assert.rejects(upload("d.mcap"), refused(409, /has 1 of 1 recordings/));
  await assert.rejects(agent.call(api.edge.openUpload, version), refused(409, /has 1 of 1 recordings/));
  const other = await cloud.otherOrganization();
  await other.call(api.uploads.create, { filename: "theirs.mcap", key: "theirs" });
});

test("an operator sees the stored and allowed amounts, changes a limit, and removes it", async () => {
  await allow({ maxStoredBytes: 5_000_000n, maxRecordings: 7 });
  const shown = await setQuotas(cloud.deps, orgId, { maxExports: 2, maxRecordings: null });
  assert.match(
    describeLimits(shown!),
    /stored bytes +\d+ of 5000000\n +recordings +1 of any number\n +exports at once +2\n/,
  );
  assert.equal(await setQuotas(cloud.deps, "nobody", {}), undefined);
});
