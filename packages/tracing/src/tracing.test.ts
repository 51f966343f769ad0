import assert from "node:assert/strict";
import { test } from "node:test";
import { openTracing, readTraceSettings } from "./index.ts";
import { startCollector } from "./testing.ts";
import { parseTraceparent } from "./trace-context.ts";

const silent = { warn() {} };
const settingsFor = (url: string, more: Record<string, string> = {}) =>
  readTraceSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: url, ...more }, "tested");

test("spans within spans reach the collector as one trace, with names, kinds, attributes, times and failures", async () => {
  await using collector = await startCollector();
  const tracing = openTracing(settingsFor(collector.url), silent);
  await tracing.inSpan(
    { name: "outer", kind: "server", attributes: { count: 2, ratio: 0.5, text: "ä" } },
    async (span) => {
      span.rename("renamed");
      const failing = tracing.inSpan({ name: "inner", kind: "client" }, () =>
        Promise.reject(Object.assign(new Error("no room for a.mcap"), { code: "ENOSPC" })),
      );
      await assert.rejects(failing, /no room/);
    },
  );
  await tracing[Symbol.asyncDispose]();
  const [inner, outer] = collector.spans;
  assert.deepEqual(
    [outer!.name, outer!.kind, outer!.parentSpanId, outer!.service],
    ["renamed", 2, undefined, "tested"],
  );
  assert.deepEqual([inner!.name, inner!.kind, inner!.parentSpanId], ["inner", 3, outer!.spanId]);
  assert.equal(inner!.traceId, outer!.traceId);
  assert.deepEqual(inner!.status, { code: 2, message: "ENOSPC" });
  assert.deepEqual(outer!.attributes, [
    { key: "count", value: { intValue: "2" } },
    { key: "ratio", value: { doubleValue: 0.5 } },
    { key: "text", value: { stringValue: "ä" } },
  ]);
  assert.ok(BigInt(inner!.endTimeUnixNano) >= BigInt(inner!.startTimeUnixNano));
  assert.equal(collector.requests[0]!.path, "/v1/traces");
});

test("work side by side keeps its own spans, and a traceparent continues a trace in another process", async () => {
  await using collector = await startCollector();
  const [here, there] = [
    openTracing(settingsFor(collector.url), silent),
    openTracing(settingsFor(collector.url), silent),
  ];
  const parents = await Promise.all(
    [1, 2, 3].map((at) =>
      here.inSpan({ name: `call ${at}`, kind: "client" }, async () => {
        await new Promise(setImmediate);
        const parent = here.traceparent();
        await there.inSpan({ name: `served ${at}`, kind: "server", parent }, async () => undefined);
        return parent;
      }),
    ),
  );
  assert.equal(new Set(parents).size, 3);
  assert.equal(here.traceparent(), undefined);
  for (const tracing of [here, there]) await tracing[Symbol.asyncDispose]();
  const named = (name: string) => collector.spans.find((span) => span.name === name)!;
  for (const at of [1, 2, 3]) {
    const [call, served] = [named(`call ${at}`), named(`served ${at}`)];
    assert.deepEqual([served.traceId, served.parentSpanId], [call.traceId, call.spanId]);
  }
});

test("a traceparent that is broken begins a new trace, and one that is not sampled is passed on and not sent", async () => {
  const [traceId, spanId] = ["0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"];
  const broken = [
    "",
    "00",
    `ff-${traceId}-${spanId}-01`,
    `00-${"0".repeat(32)}-${spanId}-01`,
    `00-${traceId}-${spanId}-01-x`,
  ];
  broken.push(
    `00-${traceId}-${"0".repeat(16)}-01`,
    `00-${traceId.toUpperCase()}-${spanId}-01`,
    `00-${traceId}-${spanId}-1`,
  );
  for (const text of broken) assert.equal(parseTraceparent(text), undefined, text);
  assert.deepEqual(parseTraceparent(`01-${traceId}-${spanId}-03-later`), { traceId, spanId, isSampled: true });
  await using collector = await startCollector();
  const tracing = openTracing(settingsFor(collector.url), silent);
  const parent = `00-${traceId}-${spanId}-00`;
  const passed = await tracing.inSpan({ name: "quiet", kind: "server", parent }, async () => tracing.traceparent());
  assert.match(passed!, new RegExp(`^00-${traceId}-[0-9a-f]{16}-00$`));
  await tracing.inSpan({ name: "new", kind: "server", parent: "broken" }, async () => undefined);
  await tracing[Symbol.asyncDispose]();
  assert.deepEqual(
    collector.spans.map(({ name, parentSpanId }) => [name, parentSpanId]),
    [["new", undefined]],
  );
});

test("of 10,000 spans while the collector refuses or is away none is kept for ever, nothing fails, and it is said once each time", async () => {
  const collector = await startCollector();
  const said: string[] = [];
  const tracing = openTracing(settingsFor(collector.url), { warn: (message) => said.push(message) });
  collector.status = 503;
  const spans = (count: number) =>
    Promise.all(Array.from({ length: count }, () => tracing.inSpan({ name: "a", kind: "internal" }, async () => 1)));
  await spans(10_000);
  await collector[Symbol.asyncDispose]();
  await spans(10_000);
  await tracing[Symbol.asyncDispose]();
  assert.equal(said.length, 1);
  assert.match(said[0]!, /^traces are lost: the collector at http:\/\/127\.0\.0\.1:\d+ fails: /);
  assert.deepEqual(collector.spans, []);
});

test("settings are those of OpenTelemetry; without an address nothing is traced, and what is wrong is named without its value", () => {
  const endpoint = "http://collector.example:4318/base/";
  const more = {
    OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20secret, x-tenant=a",
    OTEL_RESOURCE_ATTRIBUTES: "deployment.environment=test",
    OTEL_TRACES_SAMPLER: "parentbased_traceidratio",
    OTEL_TRACES_SAMPLER_ARG: "0.25",
  };
  assert.deepEqual(settingsFor(endpoint, more), {
    url: "http://collector.example:4318/base/v1/traces",
    headers: { authorization: "Bearer secret", "x-tenant": "a" },
    resource: { "service.name": "tested", "deployment.environment": "test" },
    share: 0.25,
  });
  assert.equal(readTraceSettings({}, "tested"), undefined);
  assert.equal(settingsFor(endpoint, { OTEL_SDK_DISABLED: "true" }), undefined);
  assert.throws(() => settingsFor("collector:4317"), /^RangeError: OTEL_EXPORTER_OTLP_ENDPOINT/);
  assert.throws(() => settingsFor(endpoint, { OTEL_TRACES_SAMPLER: "jaeger" }), /OTEL_TRACES_SAMPLER/);
  assert.throws(() => settingsFor(endpoint, { ...more, OTEL_TRACES_SAMPLER_ARG: "2" }), /OTEL_TRACES_SAMPLER_ARG/);
  for (const text of ["secret", "=secret", "a=%E0"]) {
    const headers = { OTEL_EXPORTER_OTLP_HEADERS: text };
    assert.throws(
      () => settingsFor(endpoint, headers),
      (error: Error) => !error.message.includes("secret"),
    );
  }
});

test("a share of the traces is sent, whole or not at all", async () => {
  await using collector = await startCollector();
  const half = { OTEL_TRACES_SAMPLER: "parentbased_traceidratio", OTEL_TRACES_SAMPLER_ARG: "0.5" };
  const tracing = openTracing(settingsFor(collector.url, half), silent);
  for (let at = 0; at < 400; at++)
    await tracing.inSpan({ name: "outer", kind: "server" }, () =>
      tracing.inSpan({ name: "inner", kind: "internal" }, async () => undefined),
    );
  await tracing[Symbol.asyncDispose]();
  const count = (name: string) => collector.spans.filter((span) => span.name === name).length;
  assert.equal(count("outer"), count("inner"));
  assert.ok(count("outer") > 100 && count("outer") < 300, String(count("outer")));
});
