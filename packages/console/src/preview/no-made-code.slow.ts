import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { globSync } from "node:fs";
import { test } from "node:test";

const FLAG = "--disallow-code-generation-from-strings";

// The policy of the pages forbids making code from text, and schemas are texts of unknown authors.
test("all decoders work where no code may be made of text", async () => {
  // Without real.slow.ts: what makes its exports runs in the control plane, and loads a library that makes code of its own.
  const files = globSync("**/*.test.ts", { cwd: import.meta.dirname });
  assert.ok(files.length >= 10);
  const refused = await run([FLAG, "-e", "new Function('return 1')"]);
  assert.match(refused.output, /EvalError/);
  const { code, output } = await run([FLAG, "--test", "--test-reporter=tap", ...files]);
  assert.equal(code, 0, output);
  assert.doesNotMatch(output, /EvalError/);
});

function run(args: string[]): Promise<{ code: number | null; output: string }> {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const options = { cwd: import.meta.dirname, env, maxBuffer: 1e8 };
  return new Promise((done) => {
    const child = execFile(process.execPath, args, options, (_error, out, err) =>
      done({ code: child.exitCode, output: out + err }),
    );
  });
}
