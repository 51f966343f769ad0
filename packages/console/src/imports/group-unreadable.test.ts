import assert from "node:assert/strict";
import { test } from "node:test";
import type { EdgeFile } from "@downlink/protocol";
import { canSalvage, groupUnreadable } from "./group-unreadable.ts";

function file(more: Partial<EdgeFile>): EdgeFile {
  return { id: "efl_1", path: "a.mcap", size: 1, modifiedAt: 0n, reportedAt: 0n, state: "incomplete", ...more };
}

const noEnd = { code: "NoEnd", text: "The file has no end." };
const span = { start: 0n, end: 10n };

test("files are grouped by their reason, and those that settle by themselves come last", () => {
  const settling = file({ state: "settling", reason: noEnd });
  const groups = groupUnreadable([
    settling,
    settling,
    file({ reason: noEnd }),
    file({ state: "unassigned", reason: { code: "NewCode", text: "…" } }),
    file({ state: "empty" }),
  ]);
  assert.deepEqual(
    groups.map(({ code, title, files }) => [code, title, files.length]),
    [
      ["empty", "Empty", 1],
      ["NewCode", "Of an unknown device", 1],
      ["NoEnd", "Incomplete: the file has no end", 1],
      ["settling", "Still being written", 2],
    ],
  );
  assert.equal(groupUnreadable([settling, file({ reason: noEnd })], "NoEnd").length, 1);
});

test("a file is salvaged where a span of it is readable, once at a time", () => {
  const request = (state: "requested" | "made" | "failed") => ({ state, requestedAt: 0n });
  assert.ok(canSalvage(file({ salvage: span })));
  assert.ok(canSalvage(file({ salvage: span, salvageRequest: request("failed") })));
  assert.ok(!canSalvage(file({ salvage: span, salvageRequest: request("requested") })));
  assert.ok(!canSalvage(file({ salvage: span, salvageRequest: request("made") })));
  assert.ok(!canSalvage(file({})));
  assert.ok(!canSalvage(file({ state: "unassigned", salvage: span })));
});

test("a salvage is advised as far as one can be made, and the rest says why not", () => {
  const adviceFor = (...files: EdgeFile[]) => groupUnreadable(files)[0]!.next;
  const [readable, lost] = [file({ reason: noEnd, salvage: span }), file({ reason: noEnd })];
  assert.equal(adviceFor(readable, readable), "Salvage what is readable.");
  assert.match(adviceFor(readable, lost, lost), /^Salvage what is readable of 1\. In the other 2, no part .* found\.$/);
  assert.match(adviceFor(lost, lost), /nothing can be salvaged/);
  assert.match(adviceFor(file({ state: "settling", reason: noEnd, salvage: span })), /by itself/);
});
