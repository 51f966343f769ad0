import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const UNITS = globSync(join(import.meta.dirname, "../../../cloud/deploy/*.service"));
/** Ten times the exposure that systemd may see at most: 10 is a service that may do everything. */
const EXPOSURE = 20;

const analyze = (...args: string[]) => spawnSync("systemd-analyze", args, { encoding: "utf8" });
const { stdout: help, error } = analyze("--help");
const skip = error || !help.includes("--offline") ? "systemd-analyze ≥ 250 is not here" : false;

test("the services of the control plane may do little: systemd sees an exposure of 2.0 at most, and no mistake", {
  skip,
}, () => {
  assert.equal(UNITS.length, 3);
  for (const unit of UNITS) {
    const { status, stdout } = analyze("security", "--no-pager", "--offline=true", `--threshold=${EXPOSURE}`, unit);
    assert.equal(status, 0, stdout);
    const { stderr } = analyze("verify", "--man=no", unit);
    assert.equal(stderr, "");
  }
});

test("they may do the same, whichever of them runs", () => {
  const limits = UNITS.map((unit) => /^UMask=(.+\n)+/m.exec(readFileSync(unit, "utf8"))?.[0]);
  assert.ok(limits[0]);
  assert.deepEqual(new Set(limits), new Set([limits[0]]));
});

test("what they keep is closed to their group, which agents of the same machine have", () => {
  for (const unit of UNITS) {
    const lines = readFileSync(unit, "utf8").split("\n");
    assert.ok(lines.includes("UMask=0077") && lines.includes("StateDirectoryMode=0700"), unit);
  }
});
