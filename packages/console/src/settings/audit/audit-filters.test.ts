import assert from "node:assert/strict";
import { test } from "node:test";
import { parseTimestamp } from "@downlink/protocol";
import { readParams } from "../../url/params.ts";
import { auditParams, toAuditQuery } from "./audit-filters.ts";

const NOW = Date.UTC(2026, 3, 14, 12);
const queryOf = (address: string) => {
  const { values, problems } = readParams(auditParams, Object.fromEntries(new URLSearchParams(address)));
  return { query: toAuditQuery(values, NOW), problems };
};

test("the audit log is asked for what the address says, the newest first", () => {
  assert.deepEqual(queryOf("").query, { sortOrder: "desc" });
  assert.deepEqual(
    queryOf("from=now-1d&operation=apiKeys.create&kind=apiKey&resource=key_1&by=member&actor=mem_1").query,
    {
      sortOrder: "desc",
      start: parseTimestamp("2026-04-13T12:00:00Z"),
      operation: "apiKeys.create",
      resourceKind: "apiKey",
      resourceId: "key_1",
      actorKind: "member",
      actorId: "mem_1",
    },
  );
});

test("a kind that does not exist is named and ignored", () => {
  const { query, problems } = queryOf("kind=spaceship");
  assert.deepEqual(query, { sortOrder: "desc" });
  assert.equal(problems.length, 1);
});
