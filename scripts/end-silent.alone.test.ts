import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { endSilent, REPORTING } from "./end-silent.ts";

const HANGS = `import { spawn } from "node:child_process";
import { createServer } from "node:net";
createServer().listen(0, "127.0.0.1");
spawn("sleep", ["600"]);
setTimeout(() => {}, 600_000);
console.log("hangs");`;

test("files that hang are ended, each with what it waited for; others go on", async (t) => {
  const dir = await mkdtemp(join(tmpdir(), "downlink-silent-"));
  t.after(() => rm(dir, { recursive: true, force: true }));
  const files = ["a.mjs", "b.mjs"].map((name) => join(dir, name));
  const children = await Promise.all(files.map(start));
  t.after(() => children.forEach((child) => void child.kill("SIGKILL")));
  const ended = once(children[0]!, "exit");
  const [waits = assert.fail("nothing was found"), ...more] = await endSilent([files[0]!]);
  assert.deepEqual(await ended, [null, "SIGKILL"]);
  assert.equal(more.length, 0);
  assert.match(waits, /a\.mjs \(\d+\) waited for /);
  for (const wait of [/timer in \d+ ms/, /tcp \d+/, /process \d+ \(sleep 600\)/]) assert.match(waits, wait);
  assert.equal(children[1]!.exitCode ?? children[1]!.signalCode, null);
  assert.deepEqual(await endSilent([join(dir, "c.mjs")]), []);
});

async function start(file: string) {
  await writeFile(file, HANGS);
  const child = spawn(process.execPath, [...REPORTING, file], { stdio: ["ignore", "pipe", "ignore"] });
  await once(child.stdout, "data");
  return child;
}
