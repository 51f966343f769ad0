import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { api } from "@downlink/protocol";
import { startCloud, type TestCloud } from "../testing/start-cloud.ts";

/** Makes a disk of a few megabytes that belongs to the server's user; undefined where this user may not. */
function mountForServer(t: TestContext): string | undefined {
  const directory = mkdtempSync(join(tmpdir(), "downlink-full-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=6m,mode=0700", "tmpfs", directory], { stdio: "pipe" });
    t.after(() => {
      execFileSync("umount", ["--lazy", directory]);
      rmSync(directory, { recursive: true });
    });
    execFileSync("chown", ["postgres", directory], { stdio: "pipe" });
    return directory;
  } catch (error) {
    t.skip(`cannot mount a disk for the server: ${(error as Error).message.trim()}`);
    return undefined;
  }
}

test("while the disk of the database is full, what is to be stored is 507, what only reads is served, and then all goes on", async (t) => {
  const directory = mountForServer(t);
  if (directory === undefined) return;
  const cloud = await startCloud(t, { works: false });
  const { admin, deps } = cloud;
  const { pool } = deps.db;
  const name = `full_${process.pid}`;
  await pool.query(`CREATE TABLESPACE ${name} LOCATION '${directory}'`);
  await pool.query(`ALTER TABLE "Event" SET TABLESPACE ${name}`);
  await pool.query(`CREATE TABLE filler (text text) TABLESPACE ${name}`);
  try {
    await admin.call(api.devices.create, { name: "robot" });
    const create = (note: string) =>
      admin.call(api.events.create, { deviceName: "robot", start: 1n, end: 2n, metadata: { note } });
    const { id } = await create("kept");
    await assert.rejects(fill(pool), { code: "53100" });
    await assert.rejects(createMany(create), { status: 507, code: "StorageFull" });
    assert.equal((await admin.call(api.events.get, { id })).id, id);
    assert.equal((await admin.call(api.devices.list, {})).length, 1);
    await pool.query("DROP TABLE filler");
    await create("there is room again");
  } finally {
    await pool.query("DROP TABLE IF EXISTS filler");
    await pool.query(`ALTER TABLE "Event" SET TABLESPACE pg_default`);
    await pool.query(`DROP TABLESPACE ${name}`);
  }
});

async function fill(pool: TestCloud["deps"]["db"]["pool"]): Promise<void> {
  for (;;) await pool.query("INSERT INTO filler SELECT repeat('x', 1000) FROM generate_series(1, 60)");
}

/** The table has some room left in its last page. */
async function createMany(create: (note: string) => Promise<unknown>): Promise<void> {
  const long = "y".repeat(900);
  for (let at = 0; at < 200; at++) await create(`${long}${at}`);
}
