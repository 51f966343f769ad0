import assert from "node:assert/strict";
import { test } from "node:test";
import type { DatasetVersion } from "@downlink/protocol";
import { editableOf, hasStagedChanges, nameCompared, nameVersion, usualVersion } from "./versions.ts";

const version = (versionNumber: number, isCommitted: boolean, added = 0): DatasetVersion => ({
  ...{ versionNumber, createdAt: 0n, episodeCount: 0, addedEpisodeCount: added, removedEpisodeCount: 0 },
  ...(isCommitted && { committedAt: 0n }),
});

test("the page shows the latest committed version, and the editable one while there is none", () => {
  assert.equal(usualVersion([version(1, true), version(3, false), version(2, true)])!.versionNumber, 2);
  assert.equal(usualVersion([version(1, false)])!.versionNumber, 1);
  assert.equal(usualVersion([]), undefined);
  assert.equal(editableOf([version(1, true), version(2, false)])!.versionNumber, 2);
});

test("staged changes are those of the editable version, and stand in its name", () => {
  assert.ok(
    hasStagedChanges(version(2, false, 3)) && !hasStagedChanges(version(2, false)) && !hasStagedChanges(undefined),
  );
  assert.equal(nameVersion(version(4, false, 12)), "version 4, being edited: +12 −0");
  assert.equal(nameVersion(version(4, true)), "version 4");
  assert.equal(nameCompared(version(4, true)), "version 4");
  assert.equal(nameCompared(version(4, false, 12)), "the staged changes on version 3");
  assert.equal(nameCompared(version(1, false, 12)), "the staged changes");
});
