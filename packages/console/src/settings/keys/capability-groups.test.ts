import assert from "node:assert/strict";
import { test } from "node:test";
import { capabilities } from "@downlink/protocol";
import { capabilityGroups, presetOf, VERBS } from "./capability-groups.ts";

test("the matrix has each capability once, and nothing else", () => {
  const shown = capabilityGroups.flatMap(({ byVerb }) => Object.values(byVerb));
  assert.deepEqual(shown.toSorted(), [...capabilities].sort());
  for (const { byVerb } of capabilityGroups)
    for (const verb of Object.keys(byVerb))
      assert.ok(
        VERBS.some((known) => known === verb),
        verb,
      );
});

test("who may only read changes nothing, and sees no keys and no people", () => {
  const read = presetOf("read");
  assert.ok(read.includes("data.stream") && read.includes("recordings.list"));
  for (const one of read) assert.match(one, /\.list$|^data\.stream$/);
  for (const one of ["apiKeys.list", "members.list", "audit.list", "siteTokens.list"] as const)
    assert.ok(!read.includes(one), one);
});

test("an uploader deletes nothing and downloads nothing", () => {
  for (const one of presetOf("upload")) assert.doesNotMatch(one, /delete|stream|update/);
});
