import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { readChanges, writeSection } from "./change-log.ts";

const ROOT = join(import.meta.dirname, "..");
const titles = [
  "agent: it waits",
  "tests: nothing for users",
  "cloud: a list is whole",
  "agent: it tells why",
  "no area",
];

test("a section groups what users see by area, and leaves out what only developers do", () => {
  const log = writeSection("", { version: "0.2.0", day: "2026-12-01", changes: readChanges(titles) });
  assert.equal(
    log,
    `# Changes

## 0.2.0 (2026-12-01)

### agent

- it waits
- it tells why

### cloud

- a list is whole
`,
  );
});

test("a new version stands first, one that is written again takes its own place, and others keep what a person wrote", () => {
  const first = writeSection("", { version: "0.2.0", day: "2026-12-01", changes: readChanges(titles) });
  const edited = first.replace("it waits", "The agent waits.");
  const second = writeSection(edited, { version: "0.3.0", day: "2026-12-02", changes: readChanges(["cloud: new"]) });
  assert.match(second, /^# Changes\n\n## 0\.3\.0 [^#]+### cloud\n\n- new\n\n## 0\.2\.0 [\s\S]+The agent waits\./);
  const again = writeSection(second, { version: "0.3.0", day: "2026-12-03", changes: readChanges(["cloud: newer"]) });
  assert.equal(again.match(/^## /gm)!.length, 2);
  assert.match(again, /2026-12-03[^#]+### cloud\n\n- newer\n/);
});

test("all packages have one version", () => {
  const manifests = globSync(["package.json", "packages/*/package.json", "scripts/tools/package.json"], { cwd: ROOT });
  const versions = manifests.map(
    (path) => (JSON.parse(readFileSync(join(ROOT, path), "utf8")) as { version: string }).version,
  );
  assert.ok(manifests.length > 10);
  assert.deepEqual([...new Set(versions)], [versions[0]]);
});
