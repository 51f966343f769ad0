import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { harmlessJson } from "@downlink/terminal/printable";
import { renderSettings } from "../commands/config.ts";
import { renderFindings } from "../commands/doctor.ts";
import { renderExplanation } from "../commands/explain.ts";
import { renderFiles } from "../commands/ls.ts";
import { createLog } from "../diagnostics/log.ts";
import { FakeCloud } from "../testing/fake-cloud.ts";
import { writeRecording } from "../testing/recordings.ts";
import { flagsFor, makeDevice, untilStatus } from "../testing/run-daemon.ts";
import { healthyStatus, problem, sampleTimeMs } from "../testing/sample-status.ts";
import { runAgent, startAgent } from "../testing/start-agent.ts";
import { renderStatus } from "./render-status.ts";
import type { StatusDocument } from "./status-schema.ts";

/** Colours, an erased screen in seven and in eight bits, a title, a new line, a text that runs backwards, a hidden character. */
const HOSTILE = "a\u001b[31m\u009b2J\u001b]0;title\u0007\r\nEvil      line\u2028b\u202e\u2066c\u200bd\u0085e\u{e0041}";
const HARMLESS = "x".repeat(HOSTILE.length);
const OBEYED = /[\p{Cc}\p{Cf}\u2028\u2029]/u;
const page = { nowMs: sampleTimeMs, columns: Number.POSITIVE_INFINITY, isColored: false };

function assertHarmless(text: string, what: string): void {
  for (const line of text.split("\n")) assert.doesNotMatch(line, OBEYED, what);
}

/** Returns the places of all texts in a document. */
function placesOf(value: unknown, place: string[] = []): string[][] {
  if (typeof value === "string") return [place];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => placesOf(inner, [...place, key]));
}

function withText<T>(document: T, place: readonly string[], text: string): T {
  const copy = structuredClone(document);
  const last = place.slice(0, -1).reduce((inner: unknown, key) => (inner as Record<string, unknown>)[key], copy);
  (last as Record<string, unknown>)[place.at(-1)!] = text;
  return copy;
}

const full: StatusDocument = {
  ...healthyStatus,
  health: "degraded",
  connection: { ...healthyStatus.connection, lastError: "no" },
  retries: [{ path: "b.mcap", lastError: "no", failures: 1, nextTryAt: "2026-01-02T03:05:00Z" }],
  throttle: {
    ...healthyStatus.throttle,
    ...{ isPaused: true, text: "off", until: "2026-01-02T08:00:00Z", interface: "wlan0" },
  },
  deletions: {
    planned: [{ reason: "imported", files: 1, bytes: 1, heldUntil: null }],
    waiting: { files: 1, text: "later" },
    ...{ nextPath: "c.mcap", heldUntil: "2026-01-03T00:00:00Z", deletedFiles: 1 },
    last: [{ path: "d.mcap", reason: "prune", sizeBytes: 1, deletedAt: "2026-01-02T00:00:00Z" }],
  } as StatusDocument["deletions"],
  problems: [problem("ForeignAnswer", "detail")],
};

test("no text in a status reaches the terminal as anything but text, or makes a line of its own", () => {
  const documents = [
    full,
    { ...full, site: { id: "site_1", name: "depot" } },
    { ...full, health: "not running" as const },
  ];
  for (const document of documents) {
    for (const place of placesOf(document)) {
      for (const columns of [60, 80, 200]) {
        const [hostile, harmless] = [HOSTILE, HARMLESS].map((text) => {
          return renderStatus(withText(document, place, text), { ...page, columns });
        });
        assertHarmless(hostile!, place.join("."));
        assert.equal(/^Evil/m.test(hostile!), false, place.join("."));
        assert.ok(harmless);
      }
      const json = harmlessJson(JSON.stringify(withText(document, place, HOSTILE), null, 2));
      assertHarmless(json, place.join("."));
      assert.deepEqual(JSON.parse(json), withText(document, place, HOSTILE));
    }
  }
});

test("no text in what ls, explain, doctor and config print does either", () => {
  const file = { path: "a", state: "reported", sizeBytes: 1, modifiedAt: "m", start: "s", end: "e" };
  const explanation = { path: "a", state: "x", why: "w", lastAttempt: "l", next: "n", todo: "t" };
  const printed: [unknown, (document: never) => string][] = [
    [{ files: [{ ...file, reason: { code: "c", text: "t" } }], left: 0 }, (document) => renderFiles(document, page)],
    [explanation, (document) => renderExplanation(document, page)],
    [[{ check: "c", verdict: "ok", text: "t", fix: "f" }], (document) => renderFindings(document, page)],
    [[{ name: "n", value: "v", from: "default", takesEffect: "at once" }], (document) => renderSettings(document)],
  ];
  for (const [document, render] of printed) {
    for (const place of placesOf(document).filter((one) => one.at(-1) !== "verdict")) {
      const [hostile, harmless] = [HOSTILE, HARMLESS].map((text) => render(withText(document, place, text) as never));
      assertHarmless(hostile!, place.join("."));
      assert.equal(hostile!.split("\n").length, harmless!.split("\n").length, place.join("."));
    }
  }
});

test("no text in the log does, for a person or as JSON, in a message, a fact or an error", () => {
  for (const format of ["text", "json"] as const) {
    const lines: string[] = [];
    const log = createLog({ format, level: "info", out: { write: (text) => lines.push(text), on: () => undefined } });
    log.info({ device: HOSTILE, inner: { list: [HOSTILE] }, [HOSTILE]: 1 }, HOSTILE);
    log.warn({ err: new Error(HOSTILE) }, "trouble");
    for (const line of lines) assertHarmless(line, format);
    assert.equal(lines[0]!.trimEnd().split("\n").length, 1);
    if (format === "json") assert.equal((JSON.parse(lines[0]!) as { device: string }).device, HOSTILE);
  }
});

test("a control plane with hostile names and refusals prints nothing but text: enroll, run, status, ls, explain", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  cloud.device = { id: `dev_${HOSTILE}`, name: HOSTILE };
  await writeRecording(device, "a.mcap");
  const config = ["--config", join(device.stateDir, "..", "agent.env")];
  const outputs = [await runAgent("enroll", ...config, ...flagsFor(device, cloud))];
  assert.deepEqual([outputs[0]!.code, outputs[0]!.stderr], [0, ""]);
  const quick = { DOWNLINK_SETTLE_TIME: "50ms", DOWNLINK_LOG_FORMAT: "text" };
  await using agent = startAgent([...config, "run"], quick);
  await untilStatus(device.stateDir, "it is reported", ({ files }) => files.reported === 1);
  const requestId = cloud.requestImport("a.mcap");
  cloud.advance(requestId, "failed", { code: HOSTILE, text: HOSTILE });
  await untilStatus(device.stateDir, "it hears of the failure", ({ files }) => files.failed === 1);
  for (const command of [["status"], ["status", "--json"], ["ls"], ["explain", "a.mcap"], ["doctor"], ["config"]])
    outputs.push(await runAgent(...config, ...command));
  agent.kill("SIGTERM");
  outputs.push(await agent.exited);
  cloud.device = { id: `dev_other${HOSTILE}`, name: HOSTILE };
  outputs.push(await runAgent("enroll", ...config, ...flagsFor(device, cloud)));
  assert.equal(outputs.at(-1)!.code, 1);
  for (const { stdout, stderr } of outputs) assertHarmless(`${stdout}\n${stderr}`, stdout.slice(0, 200));
});
