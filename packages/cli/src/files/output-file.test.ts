import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { openOutput } from "./output-file.ts";

const newFolder = () => mkdtempSync(join(tmpdir(), "downlink-dl-"));

test("a file that was not kept leaves nothing, and one that was is whole", async () => {
  const folder = newFolder();
  const path = join(folder, "a.mcap");
  {
    await using output = await openOutput(path, { force: false });
    await output.write(Buffer.from("half"));
  }
  assert.deepEqual(readdirSync(folder), []);
  {
    await using output = await openOutput(path, { force: false });
    await output.write(Buffer.from("who"));
    await output.write(Buffer.from("le"));
    await output.keep();
    assert.equal(output.sizeBytes, 5);
  }
  assert.deepEqual([readdirSync(folder), readFileSync(path, "utf8")], [["a.mcap"], "whole"]);
});

test("what is there stays unless it may be written over, also what came in the meantime", async () => {
  const path = join(newFolder(), "a.mcap");
  await using late = await openOutput(path, { force: false });
  writeFileSync(path, "mine");
  await assert.rejects(late.keep(), /RefusedError: .* exists already. --force overwrites it/);
  await assert.rejects(openOutput(path, { force: false }), /--force/);
  assert.equal(readFileSync(path, "utf8"), "mine");
  await assert.rejects(openOutput("/dev/null", { force: true }), /is not a file/);
  await using output = await openOutput(path, { force: true });
  await output.write(Buffer.from("new"));
  await output.keep();
  assert.equal(readFileSync(path, "utf8"), "new");
});
