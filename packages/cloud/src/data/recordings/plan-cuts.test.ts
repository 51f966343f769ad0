import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { missingParts, type Part } from "./plan-cuts.ts";

const NAMES = ["/a", "/b", "/c"];
const part: fc.Arbitrary<Part> = fc
  .record({ topics: fc.subarray(NAMES, { minLength: 1 }), at: fc.nat(12), span: fc.nat(8) })
  .map(({ topics, at, span }) => ({ topics, startNs: BigInt(at), endNs: BigInt(at + span) }));

/** Returns how often each moment of each topic is in the parts. */
function countMoments(parts: readonly Part[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { topics, startNs, endNs } of parts)
    for (const topic of topics)
      for (let atNs = startNs; atNs <= endNs; atNs += 1n)
        counts.set(`${topic} ${atNs}`, (counts.get(`${topic} ${atNs}`) ?? 0) + 1);
  return counts;
}

test("parts that are asked for one after another never hold a moment of a topic twice, and together hold all that was asked for", () => {
  fc.assert(
    fc.property(fc.array(part, { maxLength: 6 }), (wanted) => {
      const known: Part[] = [];
      for (const one of wanted) known.push(...missingParts(one, known));
      const counts = countMoments(known);
      assert.ok([...counts.values()].every((count) => count === 1));
      assert.deepEqual([...counts.keys()].sort(), [...countMoments(wanted).keys()].sort());
    }),
  );
});

test("nothing is missing of a part that is known", () => {
  const one = { topics: ["/a", "/b"], startNs: 3n, endNs: 9n };
  assert.deepEqual(missingParts(one, [one]), []);
  assert.deepEqual(missingParts({ ...one, topics: ["/a"], startNs: 4n }, [one]), []);
});
