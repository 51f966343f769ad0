import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { makeMcap } from "@downlink/recordings/testing";
import { type Collector, startCollector } from "@downlink/tracing/testing";
import { startScenario } from "./processes/scenario.ts";

const secret = "kept-from-everybody";
const env = (collector: Pick<Collector, "url">) => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${secret}`,
});

test("an upload is one trace: the agent's calls, the API, the job that they queued, and the store", async (t) => {
  await using collector = await startCollector();
  const scenario = await startScenario(t, { agentEnv: env(collector), cloudEnv: env(collector) });
  await writeFile(join(scenario.storageRoot, "drive-of-somebody.mcap"), await makeMcap());
  const agent = scenario.startAgent();
  await scenario.requestOnly();
  await scenario.until("complete");
  await agent.end("SIGTERM");
  await scenario.cloud().program.end("SIGTERM");

  const { spans } = collector;
  const [upload] = spans.filter(({ name }) => name === "upload");
  const trace = spans.filter(({ traceId }) => traceId === upload!.traceId);
  const parentOf = (span: (typeof spans)[number]) => trace.find(({ spanId }) => spanId === span.parentSpanId);
  const pathOf = (span: (typeof spans)[number] | undefined): string[] =>
    span ? [...pathOf(parentOf(span)), `${span.service}: ${span.name}`] : [];
  const paths = trace.map((span) => pathOf(span).join(" > "));
  const open = "POST /v1/edge/imports/{requestId}/upload";
  const complete = trace.find(({ name, service }) => service === "downlink-agent" && name.endsWith("/complete"))!.name;
  const expected = [
    `downlink-agent: upload > downlink-agent: ${open} > downlink: ${open} > downlink: store createUpload`,
    `downlink-agent: upload > downlink-agent: ${complete} > downlink: ${complete} > downlink: store completeUpload`,
    `downlink-agent: upload > downlink-agent: ${complete} > downlink: ${complete} > downlink: job ingest > downlink: store open`,
  ];
  for (const path of expected) assert.ok(paths.includes(path), `${path}\nis none of\n${paths.join("\n")}`);
  const bytes =
    /^downlink-agent: upload > downlink-agent: PUT (part|piece) > downlink: PUT \S+ > downlink: store receive/;
  assert.ok(
    paths.some((path) => bytes.test(path)),
    paths.join("\n"),
  );
  assert.ok(
    trace.every((span) => span === upload || parentOf(span)),
    "each span is within another one of the trace",
  );
  const all = JSON.stringify(spans);
  for (const text of [secret, "drive-of-somebody", scenario.agentOptions.token, scenario.cloud().adminKey])
    assert.ok(!all.includes(text));
  for (const { headers } of collector.requests) assert.equal(headers.authorization, `Bearer ${secret}`);
});

test("while the collector is away, refuses or answers nothing, uploads go on as ever, and a process ends in time", async (t) => {
  const collector = await startCollector();
  collector.status = 500;
  const scenario = await startScenario(t, { agentEnv: env(collector), cloudEnv: env(collector) });
  await writeFile(join(scenario.storageRoot, "a.mcap"), await makeMcap());
  const agent = scenario.startAgent();
  const id = await scenario.requestOnly();
  await scenario.until("complete", id);
  await collector[Symbol.asyncDispose]();
  assert.equal(await agent.end("SIGTERM"), 0);
  assert.equal(await scenario.cloud().program.end("SIGTERM"), 0);
  assert.match(scenario.cloud().program.output(), /traces are lost: the collector at http:\/\/127\.0\.0\.1:\d+ fails/);
});
