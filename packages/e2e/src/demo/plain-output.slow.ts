import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const main = fileURLToPath(new URL("./main.ts", import.meta.url));

test("the demo on a terminal without control sequences prints none", (t) => {
  if (spawnSync("script", ["--version"]).status !== 0) return t.skip("script (util-linux) is not here");
  const env = { ...process.env, TERM: "dumb", FORCE_COLOR: undefined };
  const command = `'${process.execPath}' '${main}'`;
  const { stdout, status } = spawnSync("script", ["-qfec", command, "/dev/null"], { encoding: "utf8", env, input: "" });
  assert.equal(status, 0, stdout.slice(-2000));
  assert.match(stdout, /imported; the cloud checked/);
  assert.ok(!stdout.includes("\u001b"));
});

test("the demo prints neither a control sequence nor a library's warning into a file", () => {
  const env = { ...process.env, FORCE_COLOR: undefined };
  const { stdout, stderr, status } = spawnSync(process.execPath, [main, "--sites"], { encoding: "utf8", env });
  assert.equal(status, 0, stderr);
  assert.match(stdout, /imported; the cloud checked/);
  assert.match(stdout, /never passed http/);
  assert.ok(!`${stdout}${stderr}`.includes("\u001b"));
  assert.doesNotMatch(stderr, /Warning/);
});
