import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { findLacking, listGrants } from "./key-grants.ts";

const set = fc.uniqueArray(fc.constantFrom("*", "devices.list", "devices.create", "events.list"));
const power = fc.record({ capabilities: set, enabled: fc.boolean() });
const may = ({ capabilities, enabled }: { capabilities: string[]; enabled: boolean }, capability: string) =>
  enabled && (capabilities.includes("*") || capabilities.includes(capability));

test("a key that holds everything lacks nothing, and no key lacks what it holds", () => {
  fc.assert(
    fc.property(set, set, (held, wanted) => {
      const missing = findLacking(held, wanted);
      assert.equal(missing.length === 0, held.includes("*") || wanted.every((capability) => held.includes(capability)));
    }),
  );
});

test("all that a key may do after a change and not before it is among what was granted", () => {
  fc.assert(
    fc.property(
      power,
      power,
      fc.constantFrom("devices.list", "devices.create", "other"),
      (before, after, capability) => {
        const given = listGrants(before, after);
        if (may(after, capability) && !may(before, capability))
          assert.ok(given.includes(capability) || given.includes("*"));
        if (!after.enabled && after.capabilities.every((held) => before.capabilities.includes(held)))
          assert.deepEqual(given, []);
      },
    ),
  );
});
