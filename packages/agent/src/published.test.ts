import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { problemTexts } from "./diagnostics/problems.ts";
import { violations } from "./testing/check-schema.ts";
import { publishedFiles } from "./testing/published-files.ts";
import { healthyStatus } from "./testing/sample-status.ts";

test("the page of problems and the schema of the status are as the program has them", () => {
  for (const [path, text] of Object.entries(publishedFiles())) {
    const parse = (content: string): unknown => (path.endsWith(".json") ? JSON.parse(content) : content);
    const published = readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");
    assert.deepEqual(
      parse(published),
      parse(text),
      `${path} is old: run packages/agent/src/testing/write-published-files.ts`,
    );
  }
});

test("every problem has a title, a cause and a fix, in whole sentences where they are sentences", () => {
  for (const [code, { title, cause, fix }] of Object.entries(problemTexts)) {
    assert.match(code, /^[A-Z][A-Za-z]+$/);
    assert.match(title, /^[A-Z].*[^.]$/, code);
    assert.match(cause, /^[A-Z].*\.$/s, code);
    assert.match(fix, /^[A-Z].*\.$/s, code);
  }
});

test("the published schema takes a status of this agent, and one of a later agent that says more", () => {
  const schema = JSON.parse(
    readFileSync(new URL(import.meta.resolve("@downlink/agent/status.schema.json")), "utf8"),
  ) as object;
  assert.deepEqual(violations(schema, healthyStatus), []);
  assert.deepEqual(violations(schema, { ...healthyStatus, later: 1 }), []);
  assert.deepEqual(violations(schema, { ...healthyStatus, version: 2 }), ["$.version is not 1"]);
});
