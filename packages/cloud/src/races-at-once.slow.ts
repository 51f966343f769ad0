import assert from "node:assert/strict";
import { after, test } from "node:test";
import {
  type NamedOperation,
  namesSomething,
  operations,
  operationsOn,
  runOperation,
} from "./testing/races/run-operation.ts";
import { type Scene, scenes } from "./testing/races/scenes.ts";
import { startCloud } from "./testing/start-cloud.ts";

// races.slow.ts calls each pair alone, on resources of its own.

const cloud = await startCloud({ after }, { works: false });
const met = new Set<string>();
/** Deletions that were tried on something that may be deleted. */
const deleted = new Set<string>();

for (const [name, set] of Object.entries(scenes)) {
  test(`${name}: all operations at once, twice, and none is answered 5xx`, async () => {
    const scene = await set(cloud);
    const meeting = operationsOn(scene);
    for (const { called } of meeting) met.add(called);
    const outcomes = await Promise.all([...meeting, ...meeting].map((one) => runOperation(cloud, scene, one)));
    assert.deepEqual(
      outcomes.filter(({ status }) => status >= 500),
      [],
    );
  });

  test(`${name}: of several calls that delete a thing at the same moment one is answered 200, the others 404`, async () => {
    for (const deletion of operationsOn(await set(cloud)).filter(isDeletion)) {
      const statuses = await deleteAtOnce(await set(cloud), deletion);
      if (new Set(statuses).size === 1) continue; // It cannot be deleted: it is not empty, is in use, or is at the edge as well.
      assert.deepEqual(statuses, [200, 404, 404, 404, 404], deletion.called);
      deleted.add(deletion.called);
    }
  });
}

test("every operation that names a thing was called beside others, and everything that can be deleted was", () => {
  const missing = operations.filter(({ called, operation }) => namesSomething(operation) && !met.has(called));
  const spared = operations.filter(isDeletion).filter(({ called }) => !deleted.has(called));
  assert.deepEqual(
    [...missing, ...spared].map(({ called }) => called),
    [],
  );
});

/** Says whether the operation deletes what its path names. */
function isDeletion({ operation: { method, path } }: NamedOperation): boolean {
  return method === "delete" && path.endsWith("}");
}

async function deleteAtOnce(scene: Scene, deletion: NamedOperation): Promise<number[]> {
  const outcomes = await Promise.all(Array.from({ length: 5 }, () => runOperation(cloud, scene, deletion)));
  return outcomes.map(({ status }) => status).sort();
}
