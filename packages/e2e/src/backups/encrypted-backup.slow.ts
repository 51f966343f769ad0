import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { startControlPlane } from "../processes/control-plane.ts";
import { assertRestored, type Env, makeFolder, readExports, run, succeed, uploadSome } from "./backed-up.ts";

async function makeKey(folder: string, name: string): Promise<Env> {
  const file = join(folder, name);
  await writeFile(file, randomBytes(32).toString("base64"));
  return { DOWNLINK_BACKUP_KEY_FILE: file };
}

async function assertHidden(place: string, texts: readonly string[]): Promise<void> {
  for (const entry of await readdir(place, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = await readFile(join(entry.parentPath, entry.name));
    for (const text of texts) assert.ok(!file.includes(text), `${entry.name} has ${text}`);
  }
}

test("an encrypted backup reveals nothing, and is restored with its key only", async (t) => {
  const folder = await makeFolder(t);
  const [dataDir, place, restored] = [join(folder, "live"), join(folder, "place"), join(folder, "restored")];
  const [key, otherKey] = [await makeKey(folder, "key"), await makeKey(folder, "other-key")];
  await using cloud = await startControlPlane({ dataDir });
  const bytes = await readExports(cloud, await uploadSome(cloud, 3));
  const live = { DOWNLINK_DATA_DIR: dataDir, ...key };
  await succeed(["backup", "--to", place], live);
  assert.match(await succeed(["backup", "--to", place], live), /, 0 of them new/, "sizes are compared as they were");
  await assertHidden(place, [cloud.adminKey, "postgresql.conf", "sha256", "MCAP0"]);

  const into = { DOWNLINK_DATA_DIR: restored };
  const from = ["--from", place];
  for (const [env, words] of [
    [into, /is encrypted: DOWNLINK_BACKUP_KEY_FILE has to name the file with its key/],
    [{ ...into, ...otherKey }, /is encrypted with another key than that in the file of DOWNLINK_BACKUP_KEY_FILE/],
  ] as const)
    for (const [command, expected] of [
      [["restore"], 1],
      [["backup", "verify"], 2],
    ] as const) {
      const { code, output } = await run([...command, ...from], env);
      assert.equal(code, expected);
      assert.match(output, words);
    }
  const plain = await run(["backup", "--to", place], { DOWNLINK_DATA_DIR: dataDir });
  assert.match(plain.output, /is encrypted/, "no other backup is mixed with it");

  await succeed(["backup", "verify", ...from], { ...into, ...key });
  await succeed(["restore", ...from], { ...into, ...key });
  await assertRestored({}, restored, bytes);
});
