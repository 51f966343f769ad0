// Tests the packages: node scripts/package/test.ts [--quick] [part of a path …]
//
// It makes them with a key of its own, and installs them into machines of their own. With --quick only those for this architecture are made,
// and what takes minutes is left out.
import { spawnSync } from "node:child_process";
import { globSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { PACKAGES_VARIABLE } from "../../packages/e2e/src/installed/packages.ts";
import { ROOT } from "./build-facts.ts";

const { values, positionals } = parseArgs({
  options: { quick: { type: "boolean", default: false } },
  allowPositionals: true,
});
const folder = mkdtempSync(join(tmpdir(), "downlink-packages-"));
try {
  process.exitCode = build() && runTests() ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function build(): boolean {
  const key = join(folder, "key");
  const main = join(import.meta.dirname, "main.ts");
  const architectures = values.quick ? ["--arch", process.arch] : [];
  return (
    runNode([main, "--new-key", key]) && runNode([main, "--key", key, "--out", join(folder, "out"), ...architectures])
  );
}

function runTests(): boolean {
  const files = globSync("packages/e2e/src/installed/*.machine.ts", { cwd: ROOT }).sort();
  const wanted = files.filter((path) => positionals.length === 0 || positionals.some((part) => path.includes(part)));
  const left = values.quick ? ["--test-skip-pattern", "/minutes/"] : [];
  return runNode(["--test", "--test-concurrency=1", ...left, ...wanted], {
    [PACKAGES_VARIABLE]: join(folder, "out"),
  });
}

function runNode(args: readonly string[], env: Readonly<Record<string, string>> = {}): boolean {
  const { status } = spawnSync(process.execPath, args, {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: "inherit",
  });
  return status === 0;
}
