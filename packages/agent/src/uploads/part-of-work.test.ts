import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeCloud } from "../testing/fake-cloud.ts";
import { writeRecording } from "../testing/recordings.ts";
import { makeDevice, settingsFor, startDaemon } from "../testing/run-daemon.ts";

const names = Array.from({ length: 9 }, (_, number) => `${number}.mcap`);

test("where the cloud names only the first of many requests, all are delivered in the end", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  cloud.requestsPerAnswer = 2;
  for (const [seed, name] of names.entries()) await writeRecording(device, name, { seed });
  await using agent = startDaemon(settingsFor(device, cloud));
  await cloud.until("all are reported", () => cloud.files.size === names.length);
  const requests = names.map((name) => ({
    requestId: cloud.requestImport(name),
    versionId: cloud.at(name)!.versionId,
  }));
  for (let done = 0; done < names.length; ) {
    const stages = () => [...cloud.requests.values()].map(({ stage }) => stage);
    await cloud.until("one more is stored", () => stages().includes("processing"));
    done = cloud.uploads.stored.size;
    for (const { requestId, versionId } of requests)
      if (cloud.uploads.stored.has(versionId) && cloud.requests.get(requestId)?.stage === "processing")
        cloud.advance(requestId, "imported");
  }
  await cloud.until("all ends are acknowledged", () => cloud.acknowledged.length === names.length);
  await agent.until("all are imported", ({ files }) => files.imported === names.length);
});

test("an upload goes on when more urgent requests push it out of the answer, and ends when it is said to be cancelled", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  cloud.requestsPerAnswer = 1;
  for (const [seed, name] of ["low.mcap", "high.mcap", "later.mcap"].entries())
    await writeRecording(device, name, { seed });
  const never = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  let puts = 0;
  const holdPut = () => {
    cloud.changed(); // Waiting polls look again.
    return ++puts === 1 ? never.promise : held.promise;
  };
  cloud.gate = ({ name }) => (name === "put" ? holdPut() : undefined);
  await using agent = startDaemon(settingsFor(device, cloud));
  await cloud.until("both are reported", () => cloud.files.size === 3);
  const low = cloud.requestImport("low.mcap");
  await cloud.until("the first part is on its way", () => puts === 1);
  cloud.requestImport("later.mcap");
  cloud.requestImport("high.mcap", { priority: 5 });
  await cloud.until("the other one is on its way as well", () => puts === 2);
  const { transfers } = await agent.status();
  assert.deepEqual(transfers.map(({ path }) => path).sort(), ["high.mcap", "low.mcap"]);
  cloud.cancel(low);
  await agent.until("the cancelled one has ended", (status) => status.transfers.length === 1);
  await cloud.until("that is acknowledged", () => !cloud.cancelled.has(low));
  held.resolve();
  await cloud.until("the other one is stored", () => cloud.uploads.stored.has(cloud.at("high.mcap")!.versionId));
  assert.equal(cloud.uploads.stored.has(cloud.at("low.mcap")!.versionId), false);
});
