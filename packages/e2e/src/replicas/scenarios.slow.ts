import assert from "node:assert/strict";
import { test } from "node:test";
import { edgeLimits } from "@downlink/protocol";
import { startScenario } from "../processes/scenario.ts";
import { deletesImported, deletesOld } from "../scenarios/deleting.ts";
import { uploadsDirectly } from "../scenarios/direct-upload.ts";
import { holdPoll } from "../scenarios/held-poll.ts";
import { goTheWholeWay } from "../scenarios/whole-way.ts";
import { whyNoNginx } from "./nginx.ts";
import { startReplicaSet } from "./replica-set.ts";

const skip = whyNoNginx();

test("with several processes behind nginx, everything works as with one", { skip }, async (t) => {
  const whole = await startScenario(t, { startCloud: startReplicaSet });
  const poll = await holdPoll(whole.cloud(), edgeLimits.longPollSeconds);
  await goTheWholeWay(whole);
  await t.test("a poll waits as long as it asks for", async () => {
    assert.equal((await poll.answer).status, 200);
  });
});

test("with several processes behind nginx, a client uploads by a link", { skip }, async (t) => {
  await uploadsDirectly(await startScenario(t, { startCloud: startReplicaSet }));
});

test("with several processes behind nginx, files that may be deleted are deleted on the device, and others stay", {
  skip,
}, async (t) => {
  const scenario = await startScenario(t, { startCloud: startReplicaSet });
  await deletesImported(scenario);
  await deletesOld(scenario, t);
});
