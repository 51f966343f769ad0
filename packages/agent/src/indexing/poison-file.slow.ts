import assert from "node:assert/strict";
import { readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { makeMcap } from "@downlink/recordings/testing";
import { FakeCloud } from "../testing/fake-cloud.ts";
import { writeRecording } from "../testing/recordings.ts";
import { type Device, flagsFor, makeDevice, settingsFor, startDaemon, untilStatus } from "../testing/run-daemon.ts";
import { startAgent } from "../testing/start-agent.ts";
import { createRunningClock } from "../testing/test-clock.ts";

const HOOK = new URL("../testing/die-examining.ts", import.meta.url).pathname;
const DAY_MS = 24 * 3_600_000;

/** Starts the real program, which notes what it examines and dies at `dieAt`. */
function startLife(device: Device, cloud: FakeCloud, dieAt = "") {
  const examinedFile = join(device.stateDir, "..", `examined-${performance.now()}`);
  writeFileSync(examinedFile, "");
  const agent = startAgent([...flagsFor(device, cloud), "run"], {
    NODE_OPTIONS: `--disable-warning=ExperimentalWarning --import=${HOOK}`,
    EXAMINED: examinedFile,
    DIE_EXAMINING: dieAt,
    DOWNLINK_SETTLE_TIME: "100ms",
    DOWNLINK_SCAN_INTERVAL: "500ms",
  });
  return { agent, examined: () => readFileSync(examinedFile, "utf8").split("\n").filter(Boolean) };
}

for (const kind of ["whose summary tells what it is", "that takes a long look"] as const)
  test(`a file ${kind} and that ends the agent twice is set aside, after all others were examined`, async () => {
    await using cloud = await FakeCloud.start();
    using device = makeDevice();
    const isLong = kind === "that takes a long look";
    writeFileSync(join(device.root, "a-poison.mcap"), await makeMcap({ isIndexed: !isLong }));
    for (let number = 0; number < 12; number += 1)
      await writeRecording(device, `good-${number}.mcap`, { seed: number });
    writeFileSync(join(device.root, "good-long.mcap"), await makeMcap({ isIndexed: false }));

    const lives = [startLife(device, cloud, "a-poison.mcap")];
    await lives[0]!.agent.exited;
    lives.push(startLife(device, cloud, "a-poison.mcap"));
    await lives[1]!.agent.exited;
    assert.equal(lives[1]!.examined().at(-1), "a-poison.mcap", "the others come first");
    const third = startLife(device, cloud, "a-poison.mcap");
    await using _third = third.agent;
    await cloud.until("it is reported", () => cloud.at("a-poison.mcap")?.state === "unreadable", 20_000);
    const item = cloud.at("a-poison.mcap");
    assert.ok(item?.state === "unreadable" && item.reason?.code === "EndsAgent");
    await cloud.until(
      "all others are known",
      () => [...cloud.files.values()].filter(({ state }) => state === "indexed").length === 13,
    );
    assert.ok(!third.examined().includes("a-poison.mcap"));
    const { problems } = await untilStatus(device.stateDir, "it is a problem", (status) =>
      status.problems.some(({ code }) => code === "FileSetAside"),
    );
    assert.match(problems.find(({ code }) => code === "FileSetAside")!.detail, /^a-poison\.mcap: /);

    utimesSync(join(device.root, "a-poison.mcap"), 1, 1);
    await third.agent.exited;
    assert.ok(third.examined().includes("a-poison.mcap"), "it changed: it is tried again");
    await using fourth = startLife(device, cloud).agent;
    await cloud.until(
      "it is indexed once it ends nobody",
      () => cloud.at("a-poison.mcap")?.state === "indexed",
      20_000,
    );
    fourth.kill("SIGTERM");
    await fourth.exited;
  });

test("kills from outside at random moments condemn no file for ever", async () => {
  await using cloud = await FakeCloud.start();
  using device = makeDevice();
  const bytes = {
    quick: await makeMcap({ durationSeconds: 0.5 }),
    long: await makeMcap({ durationSeconds: 2, isIndexed: false }),
  };
  for (let number = 0; number < 150; number += 1)
    writeFileSync(join(device.root, `${number}.mcap`), number % 2 === 0 ? bytes.quick : bytes.long);
  for (let life = 1; life <= 6; life += 1) {
    const { agent, examined } = startLife(device, cloud);
    const many = Math.floor(Math.random() * 30);
    while (examined().length < many && cloud.files.size < 150) await new Promise((resolve) => setImmediate(resolve));
    agent.kill("SIGKILL");
    await agent.exited;
  }
  const tomorrow = createRunningClock();
  tomorrow.aheadMs = DAY_MS;
  await using _daemon = startDaemon(settingsFor(device, cloud), tomorrow);
  const indexed = () => [...cloud.files.values()].filter(({ state }) => state === "indexed").length;
  await cloud.until("each file is known a day later", () => indexed() === 150, 20_000);
});
