import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";
import { STUCK_EXIT_CODE } from "./stop-steps.ts";

const stopSteps = new URL("./stop-steps.ts", import.meta.url).href;

/** The parts of a process, in the order in which they are opened, and how each is closed. */
function stop(parts: Readonly<Record<string, string>>, closingMs: number) {
  const uses = Object.entries(parts).map(
    ([name, close]) => `steps.use(opened, ${JSON.stringify(name)}, { [Symbol.asyncDispose]: ${close} });`,
  );
  const program = `
    import { exitIfStuck, StopSteps } from ${JSON.stringify(stopSteps)};
    const steps = new StopSteps();
    const opened = new AsyncDisposableStack();
    opened.defer(() => steps.end());
    ${uses.join("\n")}
    const log = { fatal: ({ step }) => console.log(step) };
    exitIfStuck({ steps, log, drainSeconds: 0, graceSeconds: 0, closingMs: ${closingMs} });
    await opened.disposeAsync();
    console.log("all closed");`;
  const args = ["--disable-warning=ExperimentalWarning", "--input-type=module", "--eval", program];
  return promisify(execFile)(process.execPath, args).then(
    ({ stdout }) => ({ code: 0, stdout }),
    ({ code, stdout }: { code: number; stdout: string }) => ({ code, stdout }),
  );
}

const CLOSES = "async () => {}";
const HANGS = "() => new Promise(() => setInterval(() => {}, 1000))";

test("a process of which one part never closes says which one, and exits with a code of its own", async () => {
  const { code, stdout } = await stop({ first: CLOSES, second: HANGS, third: CLOSES }, 100);
  assert.deepEqual([code, stdout], [STUCK_EXIT_CODE, "second\n"]);
});

test("a process that closed everything and lives on says that, and exits", async () => {
  const { code, stdout } = await stop({ first: "async () => void setInterval(() => {}, 1000)" }, 100);
  assert.deepEqual([code, stdout], [STUCK_EXIT_CODE, "all closed\nwhat was never closed\n"]);
});

test("a process whose parts close ends by itself", async () => {
  const { code, stdout } = await stop({ first: CLOSES, second: CLOSES }, 600_000);
  assert.deepEqual([code, stdout], [0, "all closed\n"]);
});
