import assert from "node:assert/strict";
import { test } from "node:test";
import { NEXT_CURSOR_HEADER, type Recording } from "@downlink/protocol";
import type { Service } from "../login/open-service.ts";
import { listRecordings } from "./list-recordings.ts";
import { printList, renderTable, writeList } from "./write-list.ts";

const recording = (at: number, path = `run-${at}.mcap`) =>
  ({
    id: `rec_${at}`,
    projectId: "prj_1",
    start: 1_760_000_000_000_000_001n,
    end: 1_760_000_060_000_000_000n,
    createdAt: 1_760_000_060_000_000_000n,
    size: 1_500_000,
    path,
    importStatus: "none",
    messageCount: 0,
    metadata: [],
  }) satisfies Recording;

/** Answers so many recordings, in pages. */
function serviceOf(count: number, path?: string) {
  const asked: object[] = [];
  const callWithHeaders = async (_operation: unknown, input: { limit: number; cursor?: string }) => {
    asked.push(input);
    const first = Number(input.cursor ?? 0);
    const end = Math.min(first + input.limit, count);
    const output = Array.from({ length: end - first }, (_, at) => recording(first + at, path));
    return { output, headers: { [NEXT_CURSOR_HEADER]: end < count ? String(end) : undefined } };
  };
  return { service: { client: { callWithHeaders } } as unknown as Service, asked };
}

test("a list longer than a page is read to the wanted length, and says that more match", async () => {
  for (const [count, limit, listed, isMore] of [
    [1201, 1200, 1200, true],
    [1200, 1200, 1200, false],
    [3, 50, 3, false],
    [0, 1, 0, false],
  ] as const) {
    const { page } = await listRecordings(serviceOf(count).service, {}, limit);
    assert.deepEqual([page.rows.length, page.isMore], [listed, isMore], `${limit} of ${count}`);
    assert.equal(new Set(page.rows.map(({ id }) => id)).size, listed);
  }
});

test("a filter that makes no sense is refused with the flag's name", async () => {
  const { service, asked } = serviceOf(0);
  for (const [flags, message] of [
    [{ limit: "0" }, /^UsageError: --limit must be a whole number from 1 to 1000000, and is 0$/],
    [{ limit: "1", status: "done" }, /^UsageError: --status must be one of "none", "pending"|^UsageError: --status /],
    [{ limit: "1", start: "yesterday" }, /^UsageError: --start must be an RFC 3339/],
    [{ limit: "1", device: "" }, /^UsageError: --device /],
    [{ limit: "1", metadataQuery: "x".repeat(5000) }, /^UsageError: --metadata-query /],
  ] as const)
    await assert.rejects(printList(service, listRecordings, { output: "json", ...flags }), message);
  assert.deepEqual(asked, []);
});

test("a table fits the terminal, and a terminal obeys nothing of what a robot said", async () => {
  for (const path of [`${"long/".repeat(40)}a.mcap`, "\u001b[2Jx"]) {
    const table = renderTable(await listRecordings(serviceOf(3, path).service, {}, 2), 100);
    for (const line of table.split("\n")) assert.ok(line.length <= 100, line);
    assert.match(table, /(a\.mcap|\uFFFD\[2Jx)\nMore recordings match: --limit N lists more\.\n$/);
    assert.equal(table.includes("\u001b"), false);
  }
});

test("CSV has whole values, and a file gets the texts as they are", async () => {
  const listed = await listRecordings(serviceOf(2, "a,\u001b\n.mcap").service, {}, 1);
  for (const [isTTY, path] of [
    [false, '"a,\u001b\n.mcap"'],
    [true, '"a,\uFFFD\uFFFD.mcap"'],
  ] as const) {
    const written: string[] = [];
    const write = (text: string) => written.push(text);
    const end = { write, isTTY } as unknown as NodeJS.WriteStream;
    writeList(listed, "csv", { output: end, notes: end });
    const row = `rec_0,prj_1,,,${path},1500000,2025-10-09T08:53:20.000000001Z,2025-10-09T08:54:20Z,none,2025-10-09T08:54:20Z,`;
    assert.equal(written[0]!.slice(written[0]!.indexOf("\n") + 1, -1), `${row},,0,,,,,,[]`);
    assert.match(written[0]!, /^id,projectId,device\.id,device\.name,path,size,start,/);
    assert.equal(written[1], "dl: More recordings match: --limit N lists more.\n");
  }
});
