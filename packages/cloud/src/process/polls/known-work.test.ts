import assert from "node:assert/strict";
import { test } from "node:test";
import { KnownWorks } from "./known-work.ts";

const clock = { ms: 0 };
const answer = (body: string | undefined) => ({ etag: "e", maxRequests: undefined, body, incarnation: "i" });

async function keep(works: KnownWorks, owners: number, body = "{}"): Promise<void> {
  const first = works.size.owners;
  for (let owner = first; owner < first + owners; owner++)
    await works.read(`${clock.ms}-${owner}`, async () => ({ known: answer(body) }));
}

test("work of agents that never come again is forgotten as others come", async () => {
  const works = new KnownWorks(() => clock.ms);
  await keep(works, 1000);
  assert.equal(works.size.owners, 1000);
  clock.ms += 299_999;
  await keep(works, 1);
  clock.ms += 1;
  await keep(works, 1);
  assert.deepEqual(works.size, { owners: 2, characters: 4 });
});

test("an agent that comes again and again is kept once, with its last answer", async () => {
  const works = new KnownWorks(() => clock.ms);
  for (const body of ["{}", "longer", undefined, "now"])
    await works.read("robot", async () => ({ known: answer(body) }));
  assert.deepEqual(works.size, { owners: 1, characters: 3 });
  assert.equal(works.of("robot")?.body, "now");
  works.onSignal("robot");
  works.onSignal("robot");
  assert.deepEqual([works.of("robot"), works.size], [undefined, { owners: 0, characters: 0 }]);
});

test("of many agents at once those that were read last are kept, as far as there is room", async () => {
  const works = new KnownWorks(() => clock.ms);
  await keep(works, 5000, "x".repeat(16_384));
  assert.deepEqual(works.size, { owners: 4096, characters: 64 * 1024 * 1024 });
  works.onMissedSignals();
  assert.deepEqual(works.size, { owners: 0, characters: 0 });
  await keep(works, 100_001, "");
  assert.equal(works.size.owners, 100_000);
});
