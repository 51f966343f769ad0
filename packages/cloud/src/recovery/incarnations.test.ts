import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { ApiCallError } from "@downlink/client";
import { api } from "@downlink/protocol";
import { slowTest } from "@downlink/recordings/testing";
import { withTransaction } from "../db/transaction.ts";
import { refusedWith } from "../testing/refused-with.ts";
import { startCloud } from "../testing/start-cloud.ts";
import { sayHello, startAgent } from "../testing/test-agent.ts";
import { holdDeployment, isRecovering, NotSafeError, requireSafeToDestroy } from "./held-deployment.ts";
import { endRecovery, openIncarnation } from "./incarnations.ts";
import { postgresNow, postgresStanding } from "./postgres-sql.ts";

const cloud = await startCloud({ after }, { works: false });
const { db, clock } = cloud.deps;
const read = () => db.prisma.deployment.findUniqueOrThrow({ where: { id: 1 } });
const open = (reason: string) => withTransaction(db, (tx) => openIncarnation(tx, { reason, nowNs: clock.nowNs() }));
const end = () => withTransaction(db, (tx) => endRecovery(tx, clock.nowNs()));
const hold = () => withTransaction(db, holdDeployment);

/** Confirms a mark as if the store had one of this moment. */
async function confirm(secondsAgo = 0): Promise<void> {
  await db.prisma
    .$executeRaw`UPDATE "DeploymentMark" SET "confirmedAtNs" = ${postgresNow} - ${BigInt(secondsAgo) * 1_000_000_000n},
    postgres = ${postgresStanding}`;
}

test("a new incarnation knows those before it, recovers until the recovery is ended, and then counts ages from that end", async () => {
  const first = (await read()).incarnation;
  const apiKeyId = (await db.prisma.apiKey.findFirstOrThrow()).id;
  const times = { createdAtNs: 1n, lastUsedAtNs: clock.nowNs(), expiresAtNs: clock.nowNs() + 3_600_000_000_000n };
  const reset = { create: { tokenSha256: "b", createdAtNs: 1n, expiresAtNs: 2n ** 62n } };
  await db.prisma.account.create({ data: { id: "acc_1", email: "ada@example.org", createdAtNs: 1n, reset } });
  await db.prisma.signInSession.create({ data: { id: "sess_1", tokenSha256: "a", apiKeyId, ...times } });
  const second = await open("the database is older than it was");
  assert.equal(
    await db.prisma.passwordReset.count(),
    0,
    "a link for a password that was used since is used again by nobody",
  );
  assert.equal(await db.prisma.signInSession.count(), 0, "nobody knows which were ended since: all sign in once more");
  const third = await open("once more");
  assert.deepEqual((await read()).ancestors, [first, second]);
  assert.equal((await read()).incarnation, third);
  assert.ok(await withTransaction(db, isRecovering));
  const beforeNs = clock.nowNs();
  await end();
  const { isRecovering: isStill, recoveredAtNs } = await hold();
  assert.ok(!isStill && recoveredAtNs !== null && recoveredAtNs >= beforeNs);
  await end();
  assert.equal((await hold()).recoveredAtNs, recoveredAtNs, "what has ended does not end again");
});

test("each agent's lease ends and its number rises by a million, so that its next call leads to a hello", async () => {
  const agent = await startAgent(cloud, "robot");
  await open("a test");
  await assert.rejects(agent.report([]), refusedWith("LeaseLost"));
  const again = await sayHello(cloud, agent);
  assert.equal(again.hello.lease, agent.hello.lease + 1_000_001);
  assert.notEqual(again.hello.incarnation, agent.hello.incarnation);
  await again.report([]);
  await end();
});

test("nothing may be destroyed while recovering, in a conflict, without a young mark, or by another Postgres than was compared", async () => {
  const dangerOf = async () => (await hold()).danger;
  await confirm();
  assert.equal(await dangerOf(), undefined);
  await withTransaction(db, requireSafeToDestroy);
  await confirm(121);
  assert.match((await dangerOf())!, /not confirmed a mark/);
  await confirm(-3600);
  assert.match((await dangerOf())!, /not confirmed a mark/, "one of the future is none");
  await confirm();
  await db.prisma.$executeRaw`UPDATE "DeploymentMark" SET postgres = 'another'`;
  assert.match((await dangerOf())!, /Postgres/);
  await confirm();
  await db.prisma.deployment.update({ where: { id: 1 }, data: { conflict: "two databases" } });
  assert.equal(await dangerOf(), "two databases");
  await db.prisma.deployment.update({ where: { id: 1 }, data: { conflict: null } });
  await open("the reason");
  await confirm();
  assert.match((await dangerOf())!, /the reason/);
  await assert.rejects(withTransaction(db, requireSafeToDestroy), NotSafeError);
  await end();
});

test("a transaction that holds the deployment's row ends before another incarnation is opened, and later ones see it", async () => {
  const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
  const { promise: holding, resolve: begin } = Promise.withResolvers<string>();
  const holder = withTransaction(db, async (tx) => {
    begin((await holdDeployment(tx)).incarnation);
    await held;
    return (await holdDeployment(tx)).incarnation;
  });
  const before = await holding;
  const opening = open("a test");
  const shared = await hold();
  assert.equal(shared.incarnation, before, "others hold it meanwhile");
  letGo();
  assert.equal(await holder, before);
  const opened = await opening;
  assert.equal((await hold()).incarnation, opened);
  await end();
});

slowTest("a new incarnation can be opened while an agent is served", async () => {
  const agents = await Promise.all([1, 2, 3].map((at) => startAgent(cloud, `busy-${at}`)));
  const ask = { items: [{ versionId: "0".repeat(24), reason: "imported" as const }] };
  const calls = agents.flatMap((agent) => Array.from({ length: 5 }, () => agent.call(api.edge.askPermits, ask)));
  const openings = [open("one"), open("two"), open("three")];
  for (const outcome of await Promise.allSettled(calls))
    if (outcome.status === "rejected") assert.equal((outcome.reason as ApiCallError).code, "LeaseLost");
  await Promise.all(openings);
  await end();
});

test("a user without rights can query which Postgres it is", async () => {
  const name = `plain_${process.pid}`;
  await db.prisma.$executeRawUnsafe(`CREATE ROLE ${name}`);
  await db.prisma.$executeRawUnsafe(`GRANT USAGE ON SCHEMA public TO ${name}`);
  await withTransaction(db, async (tx) => {
    await tx.$executeRawUnsafe(`SET LOCAL ROLE ${name}`);
    const [{ standing }] = await tx.$queryRaw<[{ standing: string }]>`SELECT ${postgresStanding} AS standing`;
    assert.match(standing, /^[\dA-F]{8}\/[\d.]+\/base\/\d+\/\d+$/);
  });
  await db.prisma.$executeRawUnsafe(`DROP OWNED BY ${name}`);
  await db.prisma.$executeRawUnsafe(`DROP ROLE ${name}`);
});
