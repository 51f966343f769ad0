import type { TraceContext } from "./trace-context.ts";
import type { NewSpan } from "./tracing.ts";

/** A span that has ended. */
export interface SpanRecord {
  readonly context: TraceContext;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  readonly kind: NewSpan["kind"];
  readonly startNs: bigint;
  readonly endNs: bigint;
  readonly attributes: Readonly<Record<string, string | number>>;
  /** Undefined: it did not fail. */
  readonly failure: string | undefined;
}

/** spec: opentelemetry.proto.trace.v1, in which 4 is for who sends a message and waits for nothing */
const kinds = { internal: 1, server: 2, client: 3, consumer: 5 } as const;
const STATUS_ERROR = 2;

/** Writes the request by which a collector gets spans, in the JSON of OTLP: ids are hex, and 64-bit numbers are texts. */
export function encodeSpans(spans: readonly SpanRecord[], resource: Readonly<Record<string, string>>): string {
  const scopeSpans = [{ scope: { name: "downlink" }, spans: spans.map(encodeSpan) }];
  return JSON.stringify({ resourceSpans: [{ resource: { attributes: encodeAttributes(resource) }, scopeSpans }] });
}

function encodeSpan({ context, parentSpanId, name, kind, startNs, endNs, attributes, failure }: SpanRecord) {
  return {
    traceId: context.traceId,
    spanId: context.spanId,
    ...(parentSpanId !== undefined && { parentSpanId }),
    ...{ name, kind: kinds[kind], flags: 1 },
    startTimeUnixNano: String(startNs),
    endTimeUnixNano: String(endNs),
    attributes: encodeAttributes(attributes),
    ...(failure !== undefined && { status: { code: STATUS_ERROR, message: failure } }),
  };
}

function encodeAttributes(attributes: SpanRecord["attributes"]) {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: encodeValue(value) }));
}

function encodeValue(value: string | number) {
  if (typeof value === "string") return { stringValue: value };
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}
