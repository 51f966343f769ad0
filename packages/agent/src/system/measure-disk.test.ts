import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { mountSmall } from "../testing/mount-small.ts";
import { makeDevice } from "../testing/run-daemon.ts";
import { measureDisk } from "./measure-disk.ts";

test("a disk is measured as df does it, in blocks: a file of one byte takes a whole one", async (t) => {
  using device = makeDevice();
  using mounted = mountSmall(t, device.root, "2m");
  if (!mounted) return;
  writeFileSync(join(device.root, "a"), "a");
  const columns = ["size", "used", "avail"].join(",");
  const shown = execFileSync("df", ["--block-size=1", `--output=${columns}`, device.root], { encoding: "utf8" });
  const [totalBytes, usedBytes, freeBytes] = shown.split("\n")[1]!.trim().split(/\s+/).map(Number);
  assert.deepEqual(await measureDisk(device.root), { totalBytes, freeBytes, usedBytes });
});
