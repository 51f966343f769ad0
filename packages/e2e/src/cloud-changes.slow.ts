import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { startCloud } from "@downlink/cloud/testing";
import { api } from "@downlink/protocol";
import { eventually, makeMcap } from "@downlink/recordings/testing";
import { runAgentCommand, startEdgeAgent } from "./processes/edge-agent.ts";

/** Starts a control plane whose database the test can change, and an agent whose one file it knows. */
async function startBoth(t: TestContext) {
  const cloud = await startCloud(t);
  const folder = await mkdtemp(join(tmpdir(), "downlink-e2e-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const storageRoot = join(folder, "robot");
  await mkdir(storageRoot);
  await writeFile(join(storageRoot, "a.mcap"), await makeMcap({}));
  const { id: deviceId } = await cloud.admin.call(api.devices.create, { name: "rover" });
  const { token, id: tokenId } = await cloud.admin.call(api.deviceTokens.create, { deviceId });
  const options = { url: cloud.url, token: token!, storageRoot, stateDir: join(folder, "agent") };
  const program = startEdgeAgent(options);
  t.after(() => program.end("SIGKILL"));
  await eventually(
    () => cloud.admin.call(api.recordings.list, {}),
    (found) => found.length === 1,
  );
  const agentRow = () => cloud.deps.db.prisma.agent.findUniqueOrThrow({ where: { deviceId } });
  await eventually(agentRow, ({ listedIncarnation }) => listedIncarnation !== null);
  const status = async () => {
    const { output } = await runAgentCommand(options, "status", "--json");
    return JSON.parse(output) as { connection: { state: string }; problems: { code: string }[] };
  };
  return { cloud, tokenId, program, agentRow, status };
}

test("a running agent notices that the control plane was restored, and lists all its files", async (t) => {
  const { cloud, agentRow, program } = await startBoth(t);
  const before = await agentRow();
  const incarnation = randomUUID();
  await cloud.deps.db.prisma.deployment.update({ where: { id: 1 }, data: { incarnation } });
  const after = await eventually(agentRow, ({ listedIncarnation }) => listedIncarnation === incarnation);
  assert.equal(after.leaseInstanceId, before.leaseInstanceId, "it is the same process");
  assert.match(program.output(), /the control plane was restored from a backup/);
});

test("a running agent lists all its files to a control plane that was set back and forgot its lease", async (t) => {
  const { cloud, agentRow, program } = await startBoth(t);
  const before = await agentRow();
  const { prisma } = cloud.deps.db;
  await prisma.edgeFile.deleteMany({});
  await prisma.agent.updateMany({
    data: { leaseNumber: 0n, leaseInstanceId: "of long ago", leaseExpiresAtNs: 0n, reportSequence: 0n },
  });
  const after = await eventually(agentRow, ({ leaseNumber }) => leaseNumber > before.leaseNumber);
  assert.equal(after.leaseInstanceId, before.leaseInstanceId);
  await eventually(
    () => prisma.edgeFile.count(),
    (count) => count === 1,
  );
  await eventually(agentRow, ({ listedIncarnation }) => listedIncarnation !== null);
  assert.doesNotMatch(program.output(), /LeaseHeldElsewhere/);
});

test("an agent shows at once that its token was revoked, and goes on showing it", async (t) => {
  const { cloud, tokenId, status } = await startBoth(t);
  assert.equal((await status()).connection.state, "connected");
  await cloud.admin.call(api.deviceTokens.update, { id: tokenId, enabled: false });
  const isRefused = ({ connection, problems }: Awaited<ReturnType<typeof status>>) =>
    connection.state === "refused" && problems.some(({ code }) => code === "TokenRefused");
  await eventually(status, isRefused, 5000);
  assert.ok(isRefused(await status()), "no answer from before that comes late takes it back");
});
