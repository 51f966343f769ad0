export { openTracing } from "./open-tracing.ts";
export { readTraceSettings, type TraceSettings } from "./trace-settings.ts";
export { type NewSpan, noTracing, type Span, type Tracing } from "./tracing.ts";
