import assert from "node:assert/strict";
import { test } from "node:test";
import { safeNext } from "./safe-next.ts";

const OWN = "https://downlink.example.org";

test("after a sign-in nobody is led away from this service", () => {
  for (const next of [
    "//evil.example",
    "/\\evil.example",
    "https://evil.example/",
    "javascript:alert(1)",
    "/\t/evil.example",
    "",
  ])
    assert.equal(safeNext(next, OWN), "/", next);
  assert.equal(safeNext(undefined, OWN), "/");
});

test("a page with its state is gone on with", () => {
  const next = "/p/prj_1/recordings?from=now-7d&path=run";
  assert.equal(safeNext(next, OWN), next);
});
