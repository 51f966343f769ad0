import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { fileStates } from "../inventory/file-state.ts";
import { type ProblemCode, problemTexts } from "../problems.ts";
import { renderStatus } from "./render-status.ts";
import type { StatusDocument } from "./status-schema.ts";

const nowMs = Date.parse("2026-01-02T03:04:05Z");
const plain = { nowMs, columns: 80, isColored: false };

const healthy: StatusDocument = {
  version: 1,
  health: "healthy",
  agent: { version: "0.1.0", pid: 42, startedAt: "2026-01-02T01:04:05Z" },
  device: { id: "dev_1", name: "rover-1", projectId: "prj_1", orgId: "org_1" },
  apiUrl: "https://downlink.example",
  stateDir: "/var/lib/downlink-agent",
  connection: {
    ...{ state: "connected", since: "2026-01-02T03:03:05Z", lastContactAt: "2026-01-02T03:04:00Z" },
    ...{ clockSkewMs: -3_700_000, lastError: null },
  },
  storage: {
    ...{ root: "/data", isPresent: true, totalBytes: 64e9, freeBytes: 12.3e9 },
    ...{ lastScanAt: "2026-01-02T03:04:00Z", lastScanMs: 12 },
  },
  files: { reported: 120, requested: 3, incomplete: 1 },
  transfers: [{ path: "cam/one.mcap", sizeBytes: 1000, sentBytes: 450, bytesPerSecond: 12_300_000, secondsLeft: 130 }],
  problems: [],
};

test("the screen says who, where, how, and what is under way", () => {
  assert.equal(
    renderStatus(healthy, plain),
    `Downlink agent 0.1.0: healthy, pid 42, up 2 h
Device      rover-1 (dev_1) in project prj_1
Cloud       connected for 60 s, clock 62 min ahead, https://downlink.example
Storage     12.3 GB of 64.0 GB free, scanned 5 s ago, /data
Files       1 incomplete, 120 reported, 3 requested

Uploads     1 running, 3 waiting
  cam/one.mcap                         ███████░░░░░░░░░  45 %  12.3 MB/s   2 min
`,
  );
});

test("each problem comes with its detail and what to do", () => {
  const detail = "no marker of the enrolled root in /data";
  const problem = {
    code: "StorageMissing",
    ...problemTexts.StorageMissing,
    detail,
    since: "2026-01-02T03:03:35Z",
  } as const;
  const lines = renderStatus({ ...healthy, health: "degraded", problems: [problem] }, plain).split("\n");
  assert.deepEqual(lines.slice(-5, -1), [
    "Problems",
    "  StorageMissing, 30 s: The storage root is not there",
    `    ${detail}`,
    "    → Mount it. If the root moved for go…oll` again with the new --storage-root.",
  ]);
});

test("without an agent it says so, and how to start one", () => {
  const text = renderStatus({ ...healthy, health: "not running", transfers: [] }, plain);
  assert.match(text, /not running/);
  assert.match(text, /`agent run`/);
});

test("colour is used only where it is wanted", () => {
  assert.ok(!renderStatus(healthy, plain).includes("\u001b"));
  assert.ok(renderStatus(healthy, { ...plain, isColored: true }).includes("\u001b[32mhealthy"));
});

test("whatever there is to say fits 80 columns and 24 lines, and no name of a file can drive the terminal", () => {
  const text = fc.string({ unit: "binary", maxLength: 300 });
  const codes = Object.keys(problemTexts) as ProblemCode[];
  const since = "2026-01-01T00:00:00Z";
  const problem = fc.record({ code: fc.constantFrom(...codes), detail: text });
  const count = fc.integer({ min: 0, max: 2 ** 50 });
  const transfer = fc.record({
    path: text,
    sizeBytes: count,
    sentBytes: count,
    bytesPerSecond: count,
    secondsLeft: fc.option(count),
  });
  const status = fc.record({
    problems: fc.array(problem, { maxLength: 20 }),
    transfers: fc.array(transfer, { maxLength: 20 }),
    root: text,
  });
  const files = Object.fromEntries(fileStates.map((state) => [state, 123_456]));
  fc.assert(
    fc.property(status, ({ problems, transfers, root }) => {
      const described = problems.map(({ code, detail }) => ({ code, ...problemTexts[code], detail, since }));
      const full = { ...healthy, files, transfers, problems: described, storage: { ...healthy.storage, root } };
      const lines = renderStatus(full, plain).trimEnd().split("\n");
      assert.ok(lines.length <= 24, `${lines.length} lines`);
      for (const line of lines) assert.ok([...line].length <= 80 && !/\p{Cc}/u.test(line), JSON.stringify(line));
    }),
  );
});
