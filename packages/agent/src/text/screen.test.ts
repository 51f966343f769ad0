import assert from "node:assert/strict";
import { test } from "node:test";
import { fitLines } from "./screen.ts";

test("lines that are wider than the terminal are broken between words, with their indent; without a terminal nothing is", () => {
  const text = "agent: no agent runs here\n\n  systemctl enable --now it\n";
  assert.equal(fitLines(text, 20), "agent: no agent runs\nhere\n\n  systemctl enable\n  --now it\n");
  assert.equal(fitLines(text, Number.POSITIVE_INFINITY), text);
});
