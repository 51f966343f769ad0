import assert from "node:assert/strict";
import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { after, test } from "node:test";
import type { ApiFailure } from "@downlink/client";
import { api, ErrorBody } from "@downlink/protocol";
import { startCloud } from "../testing/start-cloud.ts";
import { eventually } from "../testing/test-agent.ts";

const cloud = await startCloud({ after });
const { admin } = cloud;
await admin.call(api.devices.create, { name: "robot" });

function put(
  link: string,
  body: Uint8Array | string,
  headers: Record<string, string> = { "content-type": "application/octet-stream" },
) {
  return fetch(link, { method: "PUT", headers, body: body as string });
}
const pendingOf = async (requestId: string) =>
  (await admin.call(api.pendingImports.list, { requestId, showQuarantined: true, showCompleted: true }))[0];

test("one of deviceId, deviceName or key is required, and what is named must exist", async () => {
  const refused = (status: number) => (error: ApiFailure) => error.status === status;
  await assert.rejects(admin.call(api.uploads.create, { filename: "a.mcap" }), refused(400));
  await assert.rejects(admin.call(api.uploads.create, { filename: "a.mcap", deviceId: "dev_unknown" }), refused(404));
  await assert.rejects(
    admin.call(api.uploads.create, { filename: "a.mcap", key: "k", sessionId: "sess_unknown" }),
    refused(404),
  );
});

test("before the bytes are here there is no pending import; a file that is no recording is quarantined with its reason", async () => {
  const { link, requestId } = await admin.call(api.uploads.create, { filename: "a.mcap", deviceName: "robot" });
  assert.equal(await pendingOf(requestId), undefined);
  assert.equal((await put(link, "no recording at all")).status, 200);
  const failed = await eventually(
    () => pendingOf(requestId),
    (found) => found?.status === "error",
  );
  assert.ok(failed!.quarantinedAt !== undefined && failed!.terminal && failed!.error);
  assert.deepEqual(await admin.call(api.pendingImports.list, { requestId }), []);
  assert.deepEqual(await admin.call(api.recordings.list, { path: "a.mcap" }), []);
});

test("a second PUT to a used link is 409, and a link that was altered is 403, both as JSON", async () => {
  const { link } = await admin.call(api.uploads.create, { filename: "b.mcap", deviceName: "robot" });
  assert.equal((await put(link, "x")).status, 200);
  const again = await put(link, "x");
  assert.deepEqual([again.status, ErrorBody.parse(await again.json()).code], [409, "LinkUsed"]);
  const other = await admin.call(api.uploads.create, { filename: "c.mcap", deviceName: "robot" });
  const altered = await put(link.replace(/uploads\/[^?]+/, `uploads/${other.requestId}`), "x");
  assert.deepEqual([altered.status, ErrorBody.parse(await altered.json()).code], [403, "LinkRefused"]);
});

test("an upload of another media type is 415", async () => {
  const { link } = await admin.call(api.uploads.create, { filename: "d.mcap", deviceName: "robot" });
  assert.equal((await put(link, "x", { "content-type": "text/plain" })).status, 415);
});

test("a PUT that breaks off leaves nothing behind, and the link stays good", async () => {
  const { link, requestId } = await admin.call(api.uploads.create, { filename: "e.mcap", deviceName: "robot" });
  const broken = httpRequest(link, {
    method: "PUT",
    headers: { "content-type": "application/octet-stream", "content-length": "1000000" },
  });
  broken.on("error", () => undefined);
  broken.write(Buffer.alloc(1000));
  await once(broken, "socket");
  await new Promise((resolve) => broken.write(Buffer.alloc(1000), resolve));
  broken.destroy();
  const keys = async () => {
    const { orgId } = await cloud.deps.db.prisma.importRequest.findUniqueOrThrow({ where: { id: requestId } });
    const uploads = await cloud.deps.db.prisma.upload.findMany({ where: { requestId }, select: { blobKey: true } });
    const stored = await Array.fromAsync(cloud.deps.blobs.list(orgId), ({ key }) => key);
    return uploads.filter(({ blobKey }) => stored.includes(blobKey));
  };
  assert.deepEqual(await eventually(keys, (left) => left.length === 0), []);
  assert.equal((await put(link, "x")).status, 200);
});

test("two PUTs to one link at once: one is taken, the other is 409", async () => {
  const { link } = await admin.call(api.uploads.create, { filename: "f.mcap", deviceName: "robot" });
  const answers = await Promise.all([put(link, "one"), put(link, "two")]);
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409]);
});
