import assert from "node:assert/strict";
import type { TestContext } from "node:test";

/**
 * Fails a test that leaves the variables or the folder of its process changed, which the tests behind it in this process would meet. The
 * error names what changed, without any value: some are secrets.
 */
export function keepEnvironment(t: Pick<TestContext, "after">): void {
  const before = readEnvironment();
  t.after(() => {
    const after = readEnvironment();
    const names = new Set([...before.keys(), ...after.keys()]);
    const changed = [...names].filter((name) => before.get(name) !== after.get(name));
    assert.deepEqual(changed, [], "a test left these changed for the tests behind it");
  });
}

function readEnvironment(): Map<string, string | undefined> {
  return new Map([...Object.entries(process.env), ["the working directory", process.cwd()]]);
}
