import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { connectionLimits } from "../../process/limits/limits.ts";
import { fitOpenFiles, openFileLimit } from "./open-files.ts";

function fit(limit: number | undefined) {
  const shown: string[] = [];
  const log = { warn: (_: object, message: string) => void shown.push(message) };
  return { most: fitOpenFiles({ ...connectionLimits, most: 20_000 }, { limit, log }).most, shown };
}

test("the limit of open files is the one that the shell reports", { skip: process.platform !== "linux" }, () => {
  const limits = execFileSync("sh", ["-c", "ulimit -n 700; cat /proc/self/limits"], { encoding: "utf8" });
  assert.equal(
    openFileLimit(() => limits),
    700,
  );
  assert.ok(openFileLimit()! > 0);
  assert.equal(
    openFileLimit(() => "Max open files            unlimited            unlimited            files"),
    undefined,
  );
});

test("a limit that leaves too few connections is logged with advice, and connections stay below it", () => {
  const { most, shown } = fit(1024);
  assert.equal(most, 512);
  assert.match(
    shown.join(),
    /^at most 1024 files .* 512 connections .* not 20000: raise the limit \(ulimit -n, LimitNOFILE=/,
  );
  assert.equal(fit(100).most, 1);
});

test("nothing is logged about a limit that is high enough or unknown", () => {
  assert.deepEqual([fit(undefined), fit(1_048_576)], Array(2).fill({ most: 20_000, shown: [] }));
  assert.deepEqual(fit(20_000), { most: 19_488, shown: [] });
});
