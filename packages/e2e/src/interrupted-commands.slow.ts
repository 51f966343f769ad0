import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { eventually } from "@downlink/recordings/testing";

const ROOT = join(import.meta.dirname, "..", "..", "..");
const foldersOf = (prefix: string) => readdirSync("/dev/shm").filter((name) => name.startsWith(prefix));

const commands: [script: string, args: readonly string[], folder: string][] = [
  ["faults/main.ts", ["--kills", "1000"], "downlink-faults-"],
  ["bench/export/export.ts", ["--scale", "0.1"], "downlink-bench-"],
];
for (const [script, args, prefix] of commands)
  test(`${script} that is interrupted ends, and leaves nothing in shared memory`, { timeout: 120_000 }, async () => {
    const before = new Set(foldersOf(prefix));
    const left = () => foldersOf(prefix).filter((name) => !before.has(name));
    const program = spawn(process.execPath, [join(import.meta.dirname, script), ...args], {
      cwd: ROOT,
      stdio: "ignore",
    });
    const ended = once(program, "exit");
    await eventually(left, ({ length }) => length > 0);
    program.kill("SIGTERM");
    const [code] = await ended;
    assert.notEqual(code, 0);
    assert.deepEqual(left(), []);
  });
