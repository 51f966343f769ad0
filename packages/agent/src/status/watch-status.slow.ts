import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { makeDevice } from "../testing/run-daemon.ts";

const main = fileURLToPath(new URL("../main.ts", import.meta.url));
const NOT_RUNNING = 4;
const CTRL_C = "\u0003";

function commandFor(stateDir: string, ...more: readonly string[]): string[] {
  return [process.execPath, main, "--config", "/dev/null", "--state-dir", stateDir, "status", "--watch", ...more];
}

test("off a terminal there is one line each time, as text or as JSON, until a signal", async () => {
  using device = makeDevice();
  const expectations = [
    { more: [], line: /^\d{4}-\S+Z not running, none, 0 uploads$/ },
    { more: ["--json"], line: /^\{"version":1,"health":"not running",.*\}$/ },
  ];
  for (const { more, line } of expectations) {
    const [program, ...args] = commandFor(device.stateDir, ...more);
    const child = spawn(program!, args, { stdio: ["ignore", "pipe", "inherit"] });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    for (let count = 0; count < 2; count++) assert.match(String((await lines.next()).value), line);
    child.kill("SIGINT");
    assert.deepEqual((await once(child, "exit"))[0], NOT_RUNNING);
  }
});

test("on a terminal it is drawn in place, q ends it, and the terminal is as it was before", async (t) => {
  if (spawnSync("script", ["--version"]).status !== 0) return t.skip("script (util-linux) is not here");
  using device = makeDevice();
  const command = commandFor(device.stateDir).map((word) => `'${word}'`);
  const typed = `stty cols 60 rows 10; ${command.join(" ")}; stty -a`;
  const child = spawn("script", ["-qfec", typed, "/dev/null"], { stdio: ["pipe", "pipe", "inherit"] });
  let shown = "";
  let isTyped = false;
  const frames = () => shown.split("\u001b[H").length - 1;
  for await (const chunk of child.stdout.setEncoding("utf8")) {
    shown += chunk;
    if (frames() < 2 || isTyped) continue;
    isTyped = true;
    child.stdin.write("q");
  }
  assert.ok(shown.includes("\u001b[?1049h\u001b[?25l"), "the screen is another one, without cursor");
  const [, frame = ""] = shown.split("\u001b[H");
  const lines = frame.split("\r\n");
  assert.ok(lines.length <= 10, `${lines.length} lines on a screen of 10`);
  assert.match(frame, /not running.*q ends/s);
  const [, after] = shown.split("\u001b[?25h\u001b[?1049l");
  assert.match(after!, / icanon .* echo /s, "the keyboard is as it was");
});

test("a terminal without colours, and one whose owner wants none, get none; a dumb one gets lines", async (t) => {
  if (spawnSync("script", ["--version"]).status !== 0) return t.skip("script (util-linux) is not here");
  using device = makeDevice();
  const show = async (environment: NodeJS.ProcessEnv, ...more: string[]) => {
    const words = commandFor(device.stateDir)
      .filter((word) => word !== "--watch")
      .map((word) => `'${word}'`);
    const env = { ...process.env, NO_COLOR: undefined, FORCE_COLOR: undefined, TERM: "xterm", ...environment };
    const child = spawn("script", ["-qfec", [...words, ...more].join(" "), "/dev/null"], { env });
    let shown = "";
    let isWatching = more.includes("--watch");
    for await (const chunk of child.stdout.setEncoding("utf8")) {
      shown += chunk;
      if (!isWatching || !shown.includes("not running")) continue;
      isWatching = false;
      child.stdin.write(CTRL_C);
    }
    return shown;
  };
  assert.ok((await show({})).includes("\u001b["), "as a colour terminal gets it");
  for (const [environment, ...more] of [[{ TERM: "dumb" }], [{ NO_COLOR: "1" }], [{ TERM: "dumb" }, "--watch"]] as [
    NodeJS.ProcessEnv,
    ...string[],
  ][]) {
    const shown = await show(environment, ...more);
    assert.deepEqual([shown.includes("not running"), shown.includes("\u001b")], [true, false]);
  }
});
