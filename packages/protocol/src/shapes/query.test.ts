import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { page } from "./list.ts";
import { foldAliases, QueryBoolean, queryArray, queryInteger, queryNumber } from "./query.ts";
import { byDevice } from "./selectors.ts";

const Page = z.object(page);

test("limit is 0 to 2000, by default 2000; a greater one is refused", () => {
  assert.deepEqual(Page.parse({}), { limit: 2000, offset: 0 });
  assert.equal(Page.parse({ limit: "0" }).limit, 0);
  assert.equal(Page.parse({ limit: "2000" }).limit, 2000);
  for (const limit of ["2001", "-1", "1.5", "", "ten", "1e3"])
    assert.equal(Page.safeParse({ limit }).success, false, limit);
});

test("offset has no upper bound except that of exact numbers", () => {
  assert.equal(Page.parse({ offset: "9007199254740991" }).offset, Number.MAX_SAFE_INTEGER);
  assert.equal(Page.safeParse({ offset: "9007199254740993" }).success, false);
});

test("numbers and booleans are text on the wire and typed in code, both ways", () => {
  assert.equal(z.decode(queryNumber({ min: 0, max: 9 }), "1.5"), 1.5);
  assert.equal(z.encode(queryInteger({ min: 0 }), 7), "7");
  assert.equal(z.decode(QueryBoolean, "true"), true);
  assert.equal(z.safeDecode(QueryBoolean, "TRUE" as "true").success, false);
});

test("arrays may be repeated or comma-separated", () => {
  const States = queryArray(["a", "b", "c"]);
  assert.deepEqual(z.decode(States, "a,b"), ["a", "b"]);
  assert.deepEqual(z.decode(States, ["a", "c"]), ["a", "c"]);
  assert.equal(z.safeDecode(States, "a,d").success, false);
});

test("a deprecated alias counts only if the plain name is not given", () => {
  assert.deepEqual(foldAliases(byDevice, { "device.id": "old" }).deviceId, "old");
  assert.deepEqual(foldAliases(byDevice, { "device.id": "old", deviceId: "new" }).deviceId, "new");
  const plain = { deviceName: "r1" };
  assert.equal(foldAliases(byDevice, plain), plain);
});
