import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { api } from "@downlink/protocol";
import { eventually, makeBag, makeMcap } from "@downlink/recordings/testing";
import { assertExportedExactly } from "./compare-export.ts";
import { writeLargeFile } from "./large-file.ts";
import { type Scenario, sha256Of } from "./scenario.ts";

const START_NS = 1_760_000_000_000_000_000n;

interface StoredObject {
  readonly key: string;
  readonly sha256: string;
}

/** Imports files of each kind, one of which is sent in parts, and checks that they are exported exactly. */
export async function importEachKind(scenario: Scenario): Promise<void> {
  const { storageRoot } = scenario;
  await writeFile(join(storageRoot, "zstd.mcap"), await makeMcap({ startNs: START_NS, compression: "zstd" }));
  const later = START_NS + 60_000_000_000n;
  await writeFile(join(storageRoot, "lz4.bag"), await makeBag({ startNs: later, compression: "lz4" }));
  await writeLargeFile(scenario);
  scenario.startAgent();
  const found = await eventually(scenario.recordings, (all) => all.length === 3);
  for (const { id } of found) await scenario.cloud().admin.call(api.recordings.requestImport, { keyOrId: id });
  const imported = await eventually(scenario.recordings, (all) =>
    all.every(({ importStatus }) => importStatus === "complete"),
  );
  for (const recording of imported) await assertExportedExactly(scenario, recording);
}

/** Checks that for each file on the robot there is one object, byte for byte, and that everything stands below the prefix. */
export async function assertStored(scenario: Scenario, objects: readonly StoredObject[]): Promise<void> {
  for (const { path } of await scenario.recordings()) {
    const sha256 = await sha256Of(join(scenario.storageRoot, path));
    assert.equal(objects.filter((object) => object.sha256 === sha256).length, 1, path);
  }
  for (const { key } of objects) assert.match(key, /^downlink\/(org_|_downlink\/)/);
}
