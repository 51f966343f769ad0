import assert from "node:assert/strict";
import { test } from "node:test";
import { TrainingMapping } from "./training-mapping.ts";

const features = { x: { dtype: "float32", parts: [{ topic: "/x" }] } };

const cases: [string, object, [string, string][]][] = [
  ["topics alone", { topics: ["/a", "/b"] }, []],
  ["features alone", { fps: 10, features }, []],
  ["both", { topics: ["/a"], fps: 10, features }, []],
  ["neither", { fps: 10 }, [["features", "must be there where topics are not"]]],
  ["features without a rate", { features }, [["fps", "must be there where features are"]]],
  ["a topic twice", { topics: ["/a", "/a"] }, [["topics", "must be names that differ"]]],
  ["no feature", { topics: ["/a"], fps: 1, features: {} }, [["features", "must name at least one feature"]]],
];

for (const [name, mapping, refusals] of cases)
  test(`${name}: ${refusals.length === 0 ? "taken" : "refused by the path of the field"}`, () => {
    const { error } = TrainingMapping.safeParse(mapping);
    assert.deepEqual(error?.issues.map(({ path, message }) => [path.join("."), message]) ?? [], refusals);
  });

test("a mapping has 200 topics at most", () => {
  const topics = Array.from({ length: 201 }, (_, n) => `/t${n}`);
  assert.ok(TrainingMapping.safeParse({ topics: topics.slice(1) }).success);
  assert.deepEqual(TrainingMapping.safeParse({ topics }).error?.issues[0]?.path, ["topics"]);
  assert.ok(!TrainingMapping.safeParse({ topics: [] }).success);
});
