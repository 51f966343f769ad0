import { readTraceSettings, type TraceSettings } from "@downlink/tracing/settings";
import type { Settings } from "../settings/settings.ts";

/** Returns where traces go; undefined: nothing is traced. */
export function traceSettingsOf({ otlpEndpoint, otlpHeaders }: Settings): TraceSettings | undefined {
  const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: otlpEndpoint, OTEL_EXPORTER_OTLP_HEADERS: otlpHeaders };
  return readTraceSettings(environment, "downlink-agent");
}
