import assert from "node:assert/strict";
import { test } from "node:test";
import { NEXT_CURSOR_HEADER, type Recording } from "@downlink/protocol";
import type { Service } from "../login/open-service.ts";
import { listRecordings, renderRecordings } from "./list-recordings.ts";

const recording = (at: number, path = `run-${at}.mcap`) =>
  ({
    id: `rec_${at}`,
    start: 1_760_000_000_000_000_000n,
    end: 1_760_000_060_000_000_000n,
    size: 1_500_000,
    path,
    importStatus: "none",
  }) as unknown as Recording;

/** Answers so many recordings, in pages. */
function serviceOf(count: number) {
  const asked: object[] = [];
  const callWithHeaders = async (_operation: unknown, input: { limit: number; cursor?: string }) => {
    asked.push(input);
    const first = Number(input.cursor ?? 0);
    const end = Math.min(first + input.limit, count);
    const output = Array.from({ length: end - first }, (_, at) => recording(first + at));
    return { output, headers: { [NEXT_CURSOR_HEADER]: end < count ? String(end) : undefined } };
  };
  return { service: { client: { callWithHeaders } } as unknown as Service, asked };
}

test("a list longer than a page is read to the wanted length, and says that more match", async () => {
  for (const [count, limit, listed, isMore] of [
    [1201, "1200", 1200, true],
    [1200, "1200", 1200, false],
    [3, "50", 3, false],
    [0, "1", 0, false],
  ] as const) {
    const page = await listRecordings(serviceOf(count).service, { limit });
    assert.deepEqual([page.recordings.length, page.isMore], [listed, isMore], `${limit} of ${count}`);
    assert.equal(new Set(page.recordings.map(({ id }) => id)).size, listed);
  }
});

test("a filter that makes no sense is refused with the flag's name", async () => {
  const { service, asked } = serviceOf(0);
  for (const [flags, message] of [
    [{ limit: "0" }, /^UsageError: --limit must be a whole number from 1 to 1000000, and is 0$/],
    [{ limit: "1", status: "done" }, /^UsageError: --status must be one of none, pending/],
    [{ limit: "1", start: "yesterday" }, /^UsageError: --start: /],
  ] as const)
    await assert.rejects(listRecordings(service, flags), message);
  assert.deepEqual(asked, []);
});

test("a table fits the terminal, and a terminal obeys nothing of what a robot said", () => {
  const long = `${"long/".repeat(40)}a.mcap`;
  const table = renderRecordings({ recordings: [recording(1, long), recording(2, "\u001b[2Jx")], isMore: true }, 100);
  for (const line of table.split("\n")) assert.ok(line.length <= 100, line);
  assert.match(table, /a\.mcap\n/);
  assert.match(table, /\uFFFD\[2Jx\nMore recordings match: --limit N lists more\.\n$/);
  assert.equal(table.includes("\u001b"), false);
});
