import assert from "node:assert/strict";
import { test } from "node:test";
import { globProblem, toAgentSettings, toTyped } from "./agent-settings-text.ts";

test("settings are the same after they were shown and saved again, and what is empty is not set", () => {
  const all = { autoImport: ["2026-*/**.mcap", "!tmp/**"], uploadRate: "* 2MB/s", uploadConcurrency: 4 };
  for (const settings of [all, {}, { uploadRate: "off" }])
    assert.deepEqual(toAgentSettings(toTyped(settings)), settings);
  assert.deepEqual(toAgentSettings({ globs: " \n\n", uploadRate: " ", concurrency: "" }), {});
});

test("the pattern that cannot be used is named with its reason", () => {
  assert.equal(globProblem("a/**\n{x,y}.mcap"), undefined);
  assert.match(globProblem("a/**\n[z-")!, /^“\[z-” cannot be used: ./);
});
