import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { firstCases } from "@downlink/recordings/testing";
import pg from "pg";
import { createTestDatabase } from "../testing/test-database.ts";
import { openDatabase } from "./client.ts";
import { joinOneConnection } from "./one-connection.ts";
import { isDatabaseAway } from "./sql-state.ts";
import { withTransaction } from "./transaction.ts";

/** The call needs about ten packets. */
const MOST_STEPS = 30;

type Loss = (near: Socket) => void;

/** A server between client and Postgres: `lose` is called with a connection in place of its next packet after `afterPackets`. */
async function startLossyFront(t: TestContext, url: string) {
  const { host, database } = new pg.Client({ connectionString: url });
  const plan: { afterPackets: number; lose: Loss } = { afterPackets: Number.POSITIVE_INFINITY, lose: () => {} };
  const server = createServer((near) => {
    const far = connect(join(host, ".s.PGSQL.5432"));
    near.on("error", () => {}).on("close", () => far.destroy());
    far.on("error", () => {}).on("close", () => near.destroy());
    far.pipe(near);
    near.on("data", (packet) => {
      plan.afterPackets -= 1;
      if (plan.afterPackets >= 0) far.write(packet);
      else plan.lose(near);
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  t.after(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { url: `postgres://postgres@127.0.0.1:${port}/${database}`, plan };
}

const losses: Record<string, Loss> = {
  reset: (near) => near.resetAndDestroy(),
  ended: (near) => near.end(),
  // The pool waits for three seconds, because a server that stops may be back by then.
  "ended with a word of the server": (near) =>
    near.end(toMessage("E", "SFATAL\0C57P01\0Mterminating connection due to administrator command\0\0")),
};

for (const [name, lose] of firstCases(2, Object.entries(losses)))
  test(`a connection that is ${name} at whatever step of a call's transaction counts as a database that is away`, async (t) => {
    const { url, plan } = await startLossyFront(t, await createTestDatabase(t));
    const db = openDatabase(url, { maxConnections: 2, log: { warn: () => {} } });
    t.after(() => db[Symbol.asyncDispose]());
    const call = (id: string) =>
      joinOneConnection(db, async (inside) => {
        const { id: orgId } = await inside.prisma.organization.create({ data: { id, name: id, createdAtNs: 0n } });
        await withTransaction(inside, async (tx) => {
          await tx.organization.findMany({ where: { id: orgId } });
          await tx.organization.update({ where: { id: orgId }, data: { name: `${id}!` } });
        });
        await inside.pool.query("SELECT 1");
      });
    let step = 0;
    for (let isDone = false; !isDone && step < MOST_STEPS; step++) {
      Object.assign(plan, { afterPackets: step, lose });
      isDone = await call(`${name}${step}`).then(
        () => true,
        (error: Error) => {
          assert.ok(isDatabaseAway(error), `step ${step}: ${error.stack} ${JSON.stringify(error)}`);
          return false;
        },
      );
    }
    assert.ok(step > 8 && step < MOST_STEPS, String(step));
  });

function toMessage(type: string, body: string): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(4 + body.length);
  return Buffer.concat([Buffer.from(type), length, Buffer.from(body)]);
}
