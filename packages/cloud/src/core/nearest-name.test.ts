import assert from "node:assert/strict";
import { test } from "node:test";
import { nearestName } from "./nearest-name.ts";

const known = ["projectIds", "expiresAt", "capabilities", "name"];

test("a misspelt name leads to the known one; another one leads to none", () => {
  for (const [name, meant] of [
    ["projectIDs", "projectIds"],
    ["project_ids", "projectIds"],
    ["expiresat", "expiresAt"],
    ["capabilites", "capabilities"],
    ["nmae", undefined],
    ["description", undefined],
    ["", undefined],
  ] as const)
    assert.equal(nearestName(name, known), meant, name);
  assert.equal(nearestName("name", []), undefined);
});
