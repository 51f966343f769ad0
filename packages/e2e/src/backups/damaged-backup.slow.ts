import assert from "node:assert/strict";
import { cp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { startControlPlane } from "../processes/control-plane.ts";
import { flipByte, makeFolder, run, succeed, uploadSome } from "./backed-up.ts";

test("a damaged backup is refused with a message, and leaves nothing that starts", async (t) => {
  const folder = await makeFolder(t);
  const [dataDir, place] = [join(folder, "live"), join(folder, "place")];
  await using cloud = await startControlPlane({ dataDir });
  await uploadSome(cloud, 2);
  await succeed(["backup", "--to", place], { DOWNLINK_DATA_DIR: dataDir });
  const whole = await succeed(["backup", "verify", "--from", place], { DOWNLINK_DATA_DIR: dataDir });
  assert.match(whole, /: \d+ files and [1-9]\d* objects of \d+ bytes are what was written$/m);
  const names = (await readdir(place, { recursive: true })).sort();
  const find = (pattern: RegExp) => names.find((name) => pattern.test(name))!;
  const cut = async (path: string) => writeFile(path, (await readFile(path)).subarray(0, -600));
  const damages: [string, (path: string) => Promise<unknown>, RegExp][] = [
    ["/database$", flipByte, /damaged: .*(Postgres sent|what was written|the archive)/],
    ["/database$", cut, /damaged|archive of the database ends too early/],
    ["/database-manifest$", flipByte, /damaged: .*database-manifest is not what was written/],
    ["/objects-000001$", flipByte, /damaged: .*objects-000001 is not what was written/],
    ["/backup.json$", cut, /damaged: .*backup.json is not what was written/],
    ["/backup.json$", (path) => rm(path), /no complete backup/],
    ["upl_", flipByte, /damaged: the object org_\w+\/upl_\w+ is not what was written/],
    ["upl_", (path) => rm(path), /damaged: the object org_\w+\/upl_\w+ is not there/],
  ];
  for (const [at, [pattern, damage, words]] of damages.entries()) {
    const [damaged, into] = [join(folder, `place-${at}`), join(folder, `into-${at}`)];
    await cp(place, damaged, { recursive: true });
    await damage(join(damaged, find(new RegExp(pattern))));
    const { code, output } = await run(["restore", "--from", damaged], { DOWNLINK_DATA_DIR: into });
    assert.equal(code, 1, output);
    assert.match(output, words);
    const verified = await run(["backup", "verify", "--from", damaged], { DOWNLINK_DATA_DIR: into });
    assert.equal(verified.code, words.source.startsWith("no complete") ? 2 : 1, verified.output);
    assert.match(verified.output, words.source.startsWith("no complete") ? words : /^DAMAGED: ./m);
    assert.ok(!(await readdir(into).catch((): string[] => [])).includes("postgres"), "nothing starts there");
  }
  const into = { DOWNLINK_DATA_DIR: join(folder, "into-7") };
  const without = await run(["restore", "--from", join(folder, "place-7"), "--leave-out-damaged"], into);
  assert.equal(without.code, 1);
  assert.match(without.output, /WARNING: the object org_\w+\/upl_\w+ is not there; it is left out/);
  const { code, output } = await run(["check"], into);
  assert.deepEqual([code, output.split("\n").length], [1, 2], output);
  assert.match(output, /missing object .*upl_/);
});
