import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api } from "@downlink/protocol";
import fc from "fast-check";
import { startCloud } from "../../testing/start-cloud.ts";
import { createStoppedClock } from "../../testing/test-clock.ts";

const START_NS = 1_760_000_000_000_000_000n;
const time = createStoppedClock(START_NS);
const cloud = await startCloud({ after }, { works: false, clock: time });
const { admin } = cloud;
const floor = { key: "floor", label: "Floor", resourceType: "device", valueType: "string" } as const;
await admin.call(api.customProperties.create, floor);

const at = (seconds: number) => START_NS + BigInt(seconds) * 1_000_000_000n;

type Step =
  | { kind: "update"; value: string | null }
  | { kind: "past"; value: string | undefined; from: number; to: number };

test("after any updates and past edits, the history agrees with a timeline kept second by second", async () => {
  const value = fc.constantFrom("a", "b", "c");
  const step: fc.Arbitrary<Step> = fc.oneof(
    fc.record({ kind: fc.constant("update" as const), value: fc.option(value) }),
    fc
      .record({
        kind: fc.constant("past" as const),
        value: fc.option(value, { nil: undefined }),
        from: fc.integer({ min: -5, max: 20 }),
        to: fc.integer({ min: -4, max: 20 }),
      })
      .filter(({ from, to }) => from < to),
  );
  let run = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 10 }), async (steps) => {
      run += 1;
      await followTimeline(`line-${run}`, steps);
    }),
    { numRuns: 40 },
  );
});

/** Does one step in each second; seconds are kept from -5 to 30, and the last one stands for all that follow. */
async function followTimeline(name: string, steps: readonly Step[]) {
  const [FIRST, LAST] = [-5, 30];
  const timeline = new Array<string | undefined>(LAST - FIRST + 1).fill(undefined);
  time.atNs = at(0);
  await admin.call(api.devices.create, { name });
  for (const [index, step] of steps.entries()) {
    const now = index + 1;
    time.atNs = at(now);
    if (step.kind === "update") {
      await admin.call(api.devices.update, { nameOrId: name, properties: { floor: step.value } });
      timeline.fill(step.value ?? undefined, now - FIRST);
      continue;
    }
    const span = { start: at(step.from), end: at(step.to) };
    const edit = admin.call(api.devices.setPastProperty, { nameOrId: name, key: "floor", value: step.value, ...span });
    if (step.to > now) await assert.rejects(edit, /end must be in the past/);
    else {
      await edit;
      timeline.fill(step.value, step.from - FIRST, step.to - FIRST);
    }
  }
  const history = await admin.call(api.devices.listPropertyHistory, { nameOrId: name });
  const found = timeline.map((_, index) => {
    const moment = at(index + FIRST);
    return history.filter(({ start, end }) => start <= moment && (end === undefined || end > moment));
  });
  assert.ok(found.every((active) => active.length <= 1));
  assert.deepEqual(
    found.map(([active]) => active?.value),
    timeline,
  );
  const { properties } = await admin.call(api.devices.get, { nameOrId: name });
  assert.equal(properties!.floor, timeline.at(-1));
}
