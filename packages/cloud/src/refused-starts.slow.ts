import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, test } from "node:test";

const root = await mkdtemp(join(tmpdir(), "refused-starts-"));
after(() => rm(root, { recursive: true }));
const other = createServer().listen(0, "127.0.0.1");
await once(other, "listening");
after(() => other.close());
const used = String((other.address() as AddressInfo).port);

/** Runs the program until it ends, with its data in a folder that is not there before, and returns all that it printed. */
async function run(command: "all" | "serve" | "work", settings: Record<string, string>) {
  const dataDir = join(root, "data");
  const env = { DOWNLINK_DATA_DIR: dataDir, DOWNLINK_PORT: "0", ...settings };
  const child = spawn(process.execPath, [join(import.meta.dirname, "main.ts"), command], { env });
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
  assert.ok(!existsSync(dataDir), "nothing is written");
  return { code: code as number, out, err };
}

for (const command of ["all", "serve"] as const)
  test(`${command}: a port that is in use is the first that is looked at`, async () => {
    const { code, out, err } = await run(command, { DOWNLINK_PORT: used });
    const sentence = `downlink: 127.0.0.1:${used} is in use by another program; set DOWNLINK_PORT to another port\n`;
    assert.deepEqual([code, out, err], [1, "", sentence]);
  });

test("work: the port of its health, if it has one, is looked at, and that of the calls is not", async () => {
  const { code, err } = await run("work", { DOWNLINK_PORT: used, DOWNLINK_WORK_PORT: used });
  assert.equal(code, 1);
  assert.match(err, new RegExp(`^downlink: 127.0.0.1:${used} is in use by another program; set DOWNLINK_WORK_PORT`));
});

test("a data folder that cannot be is refused in one sentence, which blames no database", async () => {
  const file = join(root, "file");
  await writeFile(file, "");
  for (const folder of [file, join(file, "below"), "/proc/x"]) {
    const { code, out, err } = await run("all", { DOWNLINK_DATA_DIR: folder });
    assert.deepEqual([code, out], [1, ""], err);
    assert.match(err, /^downlink: cannot write in the folder \S+: .*; set DOWNLINK_DATA_DIR to another one\n$/);
    assert.ok(err.includes(` ${folder}: `) && !err.includes("DATABASE_URL"), err);
  }
});

test("an address of a database that is malformed is called so, and its password is not printed", async () => {
  for (const address of ["postgres://me:secret#1@h/db", "mysql://me:secret@h/db", "postgres:me:secret", "secret"]) {
    const { code, out, err } = await run("all", { DATABASE_URL: address });
    assert.deepEqual([code, out], [2, ""], err);
    assert.match(err, /DATABASE_URL: is malformed/);
    assert.doesNotMatch(err, /secret/);
  }
});
