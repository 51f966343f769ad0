import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { makeMcap } from "@downlink/recordings/testing";
import { runDaemon } from "../daemon/daemon.ts";
import { FakeCloud } from "../testing/fake-cloud.ts";
import { writeRecording } from "../testing/recordings.ts";
import { makeDevice, settingsFor } from "../testing/run-daemon.ts";
import { createLog, maskTokens } from "./log.ts";

function logInto(lines: string[], format: "text" | "json" | "auto") {
  return createLog({ format, level: "info", out: { write: (text) => lines.push(text), on: () => undefined } });
}

test("a token is masked wherever it appears, except for its kind and its end", () => {
  const lines: string[] = [];
  const log = logInto(lines, "json");
  log.info(
    { header: "Bearer dl_dt_0123456789abcdefXYZ9", err: new Error("dl_sk_secretsecretABCD") },
    "dl_st_abcdefgh1234",
  );
  const { header, msg } = JSON.parse(lines[0]!) as Record<string, string>;
  assert.deepEqual([header, msg], ["Bearer dl_dt_…XYZ9", "dl_st_…1234"]);
  assert.ok(!lines[0]!.includes("secretsecret"));
  assert.equal(maskTokens("no token here"), "no token here");
  assert.equal(maskTokens("by http://rover:word@proxy:1/ and a@b"), "by http://…@proxy:1/ and a@b");
});

test("a person reads time, level, message and facts, and a machine reads JSON", () => {
  const lines: string[] = [];
  logInto(lines, "text").warn({ path: "a b", count: 2 }, "careful");
  assert.match(lines[0]!, /^\d\d:\d\d:\d\d WARN {2}careful path=a b count=2\n$/);
  logInto(lines, "auto").warn("careful");
  assert.equal((JSON.parse(lines[1]!) as { msg: string }).msg, "careful");
});

test("the log reports in words what happens to files and to the agent, with the reason as a sentence", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  await writeRecording(device, "a.mcap");
  writeFileSync(join(device.root, "empty.mcap"), await makeMcap({ durationSeconds: 0 }));
  writeFileSync(join(device.root, "noise.mcap"), "this is no recording at all");
  const lines: string[] = [];
  const stop = new AbortController();
  const daemon = runDaemon({ settings: settingsFor(device, cloud), log: logInto(lines, "text"), signal: stop.signal });
  await cloud.until("all are reported", () => cloud.files.size === 3);
  stop.abort();
  await daemon;
  const text = lines.join("");
  assert.match(text, /INFO {2}a recording is indexed path=a\.mcap\n/);
  assert.match(text, /INFO {2}a recording holds no message path=empty\.mcap code=NoMessages reason=It is valid but/);
  assert.match(
    text,
    /INFO {2}a file cannot be read as a recording path=noise\.mcap code=NotARecording reason=the content is/,
  );
  for (const line of lines) {
    const [, message] = /^\S+ \w+ +(.*?)( \w+=|\n)/.exec(line) ?? [];
    assert.doesNotMatch(message ?? "", /[a-z][A-Z]/, line);
  }
});
