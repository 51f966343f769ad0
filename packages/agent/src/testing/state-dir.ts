import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";

/** Makes a state directory, which is removed after the test. */
export function makeStateDir(t: TestContext): string {
  const stateDir = mkdtempSync(join(tmpdir(), "downlink-state-"));
  t.after(() => rmSync(stateDir, { recursive: true, force: true }));
  return stateDir;
}
