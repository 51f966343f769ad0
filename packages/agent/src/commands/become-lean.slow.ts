import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { FakeCloud } from "../testing/fake-cloud.ts";
import { flagsFor, makeDevice, untilStatus } from "../testing/run-daemon.ts";
import { startAgent } from "../testing/start-agent.ts";

test("run goes on in the same process with the settings that save memory, whichever of them was given before", async (t) => {
  if (process.platform !== "linux") return t.skip("the settings of a process are read from /proc");
  await using cloud = await FakeCloud.start();
  const environments: Record<string, string>[] = [{}, { MALLOC_ARENA_MAX: "2" }];
  for (const given of environments) {
    using device = makeDevice();
    await using agent = startAgent([...flagsFor(device, cloud), "run"], given);
    const status = await untilStatus(device.stateDir, "it runs", () => true);
    assert.equal(status.agent.pid, agent.pid);
    const readProc = (name: string) => readFileSync(`/proc/${agent.pid}/${name}`, "utf8").split("\0");
    assert.ok(readProc("cmdline").includes("--optimize-for-size"));
    assert.ok(readProc("environ").includes(`MALLOC_ARENA_MAX=${given.MALLOC_ARENA_MAX ?? "1"}`));
    for (const threshold of ["MALLOC_MMAP_THRESHOLD_=131072", "MALLOC_TRIM_THRESHOLD_=65536"])
      assert.ok(readProc("environ").includes(threshold));
  }
});
