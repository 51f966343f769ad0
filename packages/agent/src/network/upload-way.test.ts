import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { interfaceRulesOf } from "../settings/interface-rules.ts";
import { findInterface } from "./route.ts";
import { isMetered, refusalOf } from "./upload-way.ts";

test("allowed interfaces are the only ones, denied ones never are, and metered counts as a name", () => {
  const cases: [string, string, boolean, string | undefined][] = [
    ["eth0,wlan*", "wlan1", false, undefined],
    ["eth0,wlan*", "wwan0", false, "wwan0 is not among the allowed interfaces"],
    ["!wwan*", "wwan0", false, "wwan0 is denied"],
    ["!wwan*", "eth0", true, undefined],
    ["!metered", "wlan0", true, "wlan0 is metered"],
    ["!metered", "wlan0", false, undefined],
    ["wlan*,!metered", "wlan0", true, "wlan0 is metered"],
    ["metered", "wlan0", true, undefined],
    ["ETH*", "eth0", false, "eth0 is not among the allowed interfaces"],
  ];
  for (const [rules, name, metered, expected] of cases)
    assert.equal(refusalOf(interfaceRulesOf(rules), { name, isMetered: metered }), expected, `${rules} on ${name}`);
  for (const text of ["", "eth0,,eth1", "a b", "!", "e".repeat(101)])
    assert.throws(() => interfaceRulesOf(text), /no list of interfaces/);
});

test("the interface is the one that the system would send through", async () => {
  assert.equal(await findInterface("http://127.0.0.1:1/path"), "lo");
  assert.equal(await findInterface("http://no-such-host.invalid"), undefined);
});

test("NetworkManager says whether an interface is metered; without it none is", async (t) => {
  const before = process.env.PATH;
  t.after(() => Object.assign(process.env, { PATH: before }));
  const answers = { "yes (guessed)": true, yes: true, "no (guessed)": false, unknown: false };
  for (const [answer, expected] of Object.entries(answers)) {
    withProgram(t, `#!/bin/sh\n[ "$*" = "-g GENERAL.METERED device show wlan0" ] && echo "${answer}"\n`);
    assert.equal(await isMetered("wlan0"), expected, answer);
  }
  process.env.PATH = "/nonexistent";
  assert.equal(await isMetered("wlan0"), false);
});

/** Puts a fake `nmcli` into the path, which the test restores. */
function withProgram(t: TestContext, text: string): void {
  const directory = mkdtempSync(join(tmpdir(), "downlink-nmcli-"));
  writeFileSync(join(directory, "nmcli"), text);
  chmodSync(join(directory, "nmcli"), 0o755);
  process.env.PATH = `${directory}:/usr/bin:/bin`;
  t.after(() => rmSync(directory, { recursive: true }));
}
