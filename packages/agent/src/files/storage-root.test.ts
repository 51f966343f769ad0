import assert from "node:assert/strict";
import { chmodSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { slowTest } from "@downlink/recordings/testing";
import { createProblemBoard } from "../diagnostics/problems.ts";
import type { StateFacts } from "../state/state-facts.ts";
import { systemClock } from "../system/clock.ts";
import { FakeCloud } from "../testing/fake-cloud.ts";
import { flagsFor, makeDevice, untilStatus } from "../testing/run-daemon.ts";
import { startAgent, whyNotAsNobody } from "../testing/start-agent.ts";
import { MARKER_NAME } from "./root-marker.ts";
import { openStorageRoot } from "./storage-root.ts";

slowTest("a root that is there and may not be used is not called missing, and works as soon as it may", async (t) => {
  const why = whyNotAsNobody();
  if (why !== undefined) return t.skip(why);
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  mkdirSync(device.stateDir);
  for (const path of [dirname(device.root), device.stateDir]) chmodSync(path, 0o777);
  const user = { uid: 65_534, gid: 65_534 };
  const quick = { DOWNLINK_WATCH_SCAN_INTERVAL: "200ms" };
  await using agent = startAgent([...flagsFor(device, cloud), "run"], quick, { user });
  await agent.started;
  const until = (what: RegExp) =>
    untilStatus(device.stateDir, `it says ${what}`, ({ problems: [first] }) =>
      what.test(`${first?.code}: ${first?.detail}`),
    );
  const { problems } = await until(/^StorageUnusable: the marker cannot be written into .*: permission denied$/);
  assert.equal(problems.length, 1);
  chmodSync(device.root, 0o777);
  await untilStatus(device.stateDir, "it is used", ({ health }) => health === "healthy");
  chmodSync(join(device.root, MARKER_NAME), 0o000);
  await until(/^StorageUnusable: the marker in .* cannot be read: permission denied$/);
  chmodSync(device.root, 0o000);
  await until(/^StorageUnusable/);
  chmodSync(device.root, 0o777);
  chmodSync(join(device.root, MARKER_NAME), 0o444);
  await untilStatus(device.stateDir, "it is used again", ({ health }) => health === "healthy");
});

test("a state that cannot be written is not reported as a root that cannot be used", async () => {
  using device = makeDevice();
  const full = Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
  const facts = {
    owner: () => ({}),
    bind() {
      throw full;
    },
  } as unknown as StateFacts;
  const problems = createProblemBoard(systemClock);
  const storageRoot = openStorageRoot(device.root, { facts, problems, clock: systemClock, adoptsCards: () => false });
  await assert.rejects(storageRoot.find(), full);
  assert.deepEqual(problems.list(), []);
});
