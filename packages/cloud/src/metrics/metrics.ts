import { Counter, Gauge, Histogram, Registry } from "prom-client";

const REQUEST_SECONDS = [0.005, 0.02, 0.1, 0.5, 2, 10, 60];
const JOB_SECONDS = [0.1, 1, 10, 60, 600, 3600];

export type Metrics = ReturnType<typeof createMetrics>;

/**
 * What this process counts and what it knows of the deployment, for Prometheus. Labels have few values, all ours: a metric never
 * names an organization, a device or anything else of theirs.
 */
export function createMetrics() {
  const registry = new Registry();
  const registers = [registry];
  return {
    registry,
    /** Called before the metrics are read, for what need not be counted as it happens. */
    observers: [] as (() => void)[],
    requests: new Counter({
      name: "downlink_http_requests_total",
      help: "Requests answered, by operation and status",
      labelNames: ["operation", "status"],
      registers,
    }),
    requestSeconds: new Histogram({
      name: "downlink_http_request_seconds",
      help: "Time from a request to its answer, or to the first byte of a stream; held polls are an operation of their own",
      labelNames: ["operation"],
      buckets: REQUEST_SECONDS,
      registers,
    }),
    receivedBytes: counterOf("downlink_http_received_bytes_total", "Bytes read from HTTP connections"),
    sentBytes: counterOf("downlink_http_sent_bytes_total", "Bytes written to HTTP connections"),
    httpConnections: gaugeOf("downlink_http_connections", "HTTP connections that are open"),
    exports: new Counter({
      name: "downlink_exports_total",
      help: "Export streams that ended, whole or broken off",
      labelNames: ["outcome"],
      registers,
    }),
    exportsActive: gaugeOf("downlink_exports_active", "Export streams under way"),
    imports: new Counter({
      name: "downlink_imports_total",
      help: "Attempts to import a file, by outcome: complete, failed for good, redelivered for other bytes than announced, or postponed",
      labelNames: ["outcome"],
      registers,
    }),
    importedBytes: counterOf("downlink_imported_bytes_total", "Bytes of files whose import is complete"),
    jobSeconds: new Histogram({
      name: "downlink_job_seconds",
      help: "Time that jobs took, by queue and outcome",
      labelNames: ["queue", "outcome"],
      buckets: JOB_SECONDS,
      registers,
    }),
    databaseUp: gaugeOf("downlink_database_up", "Whether the database answered when this was read"),
    databaseConnections: new Gauge({
      name: "downlink_database_connections",
      help: "Connections of this process to its database",
      labelNames: ["state"],
      registers,
    }),
    databaseWaiting: gaugeOf("downlink_database_waiting", "Calls of this process that wait for a connection"),
    jobs: new Gauge({
      name: "downlink_jobs",
      help: "Jobs of the deployment, by queue and state: waiting, retrying after a failure, active, or failed for good and kept for a while",
      labelNames: ["queue", "state"],
      registers,
    }),
    oldestJobSeconds: new Gauge({
      name: "downlink_oldest_job_seconds",
      help: "For how long the oldest job of a queue could have run already",
      labelNames: ["queue"],
      registers,
    }),
    outboxEntries: gaugeOf(
      "downlink_outbox_entries",
      "Events in the outbox of the deployment that nobody has taken yet; 10001 where there are more",
    ),
    oldestOutboxSeconds: gaugeOf(
      "downlink_oldest_outbox_entry_seconds",
      "For how long the oldest event of the outbox waits already",
    ),
    agentsOnline: gaugeOf("downlink_agents_online", "Agents of the deployment that hold a lease"),
    stopping: gaugeOf("downlink_stopping", "Whether this process was told to stop"),
    cpuSeconds: counterOf("process_cpu_seconds_total", "CPU time of this process"),
    residentBytes: gaugeOf("process_resident_memory_bytes", "Memory of this process"),
    eventLoopUtilization: gaugeOf(
      "downlink_event_loop_utilization",
      "Share of the time since the last reading in which this process computed",
    ),
  };

  function gaugeOf(name: string, help: string): Gauge {
    return new Gauge({ name, help, registers });
  }

  function counterOf(name: string, help: string): Counter {
    return new Counter({ name, help, registers });
  }
}
