import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { FakeCloud } from "../testing/fake-cloud.ts";
import { writeRecording } from "../testing/recordings.ts";
import { makeDevice, settingsFor, startDaemon } from "../testing/run-daemon.ts";
import { healthyStatus, problem } from "../testing/sample-status.ts";
import { stablePort } from "../testing/stable-port.ts";
import { renderMetrics } from "./render-metrics.ts";

const usage = { rssBytes: 1, cpuSeconds: 0.5 };

test("metrics are lines as Prometheus reads them; what is not known is left out", () => {
  const status = { ...healthyStatus, problems: [problem("WatchLimit", 'a "quoted"\nline')] };
  const lines = renderMetrics(status, usage).trimEnd().split("\n");
  for (const line of lines) assert.match(line, /^(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{[a-z]+="[^"]*"\})? -?[\d.e+]+)$/);
  for (const line of ['downlink_agent_files{state="reported"} 120', 'downlink_agent_problem{code="WatchLimit"} 1'])
    assert.ok(lines.includes(line), line);
  assert.ok(!lines.some((line) => line.includes("upload_limit")), "there is no limit");
  const limited = { ...status, throttle: { ...status.throttle, bytesPerSecond: 5000 } };
  assert.match(renderMetrics(limited, usage), /^downlink_agent_upload_limit_bytes_per_second 5000$/m);
});

test("the agent counts what it uploads, and serves metrics only where the settings say so", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  const { length } = await writeRecording(device, "a.mcap");
  const address = `127.0.0.1:${stablePort()}`;
  await using agent = startDaemon(settingsFor(device, cloud, { metricsAddress: address }));
  await cloud.until("the file is reported", () => cloud.at("a.mcap") !== undefined);
  cloud.requestImport("a.mcap");
  await agent.until("it is uploaded", ({ counters }) => counters.uploadedFiles === 1);
  const response = await fetch(`http://${address}/metrics`);
  assert.match(response.headers.get("content-type")!, /^text\/plain; version=0\.0\.4/);
  const text = await response.text();
  assert.match(text, new RegExp(`^downlink_agent_uploaded_bytes_total ${length}$`, "m"));
  assert.equal((await fetch(`http://${address}/`)).status, 404);
});

test("an address that is taken is a named problem, and the agent works on", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
  try {
    const { port } = taken.address() as AddressInfo;
    await using agent = startDaemon(settingsFor(device, cloud, { metricsAddress: `127.0.0.1:${port}` }));
    const { problems } = await agent.until("it is connected", ({ connection }) => connection.state === "connected");
    assert.deepEqual(
      problems.map(({ code }) => code),
      ["MetricsUnavailable"],
    );
  } finally {
    taken.close();
  }
});
