import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { keepEnvironment } from "./same-environment.ts";

const VARIABLE = "DOWNLINK_TEST_ENVIRONMENT";

/** Resolves once the test has ended whose environment is kept while it acts. */
async function runKept(act: () => void): Promise<void> {
  const ends: (() => unknown)[] = [];
  keepEnvironment({ after: (end: () => unknown) => void ends.push(end) } as Pick<TestContext, "after">);
  act();
  for (const end of ends) await end();
}

test("a variable that is left set, and a folder that is left, fail their test by name and without the value", async (t) => {
  const folder = process.cwd();
  t.after(() => {
    delete process.env[VARIABLE];
    process.chdir(folder);
  });
  await assert.rejects(
    runKept(() => void Object.assign(process.env, { [VARIABLE]: "secret" })),
    (error: Error) => error.message.includes(VARIABLE) && !error.message.includes("secret"),
  );
  await assert.rejects(
    runKept(() => process.chdir("/")),
    /the working directory/,
  );
});

test("a variable that is set and taken back fails nothing", async () => {
  await runKept(() => {
    process.env[VARIABLE] = "set";
    delete process.env[VARIABLE];
  });
});
