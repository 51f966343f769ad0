import { Counter, Gauge, Histogram, Registry } from "prom-client";

const REQUEST_SECONDS = [0.005, 0.02, 0.1, 0.5, 2, 10, 60];
const BUCKET_SECONDS = [0.005, 0.02, 0.1, 0.5, 2, 10, 60];
const JOB_SECONDS = [0.1, 1, 10, 60, 600, 3600];

export type Metrics = ReturnType<typeof createMetrics>;

/**
 * Everything that this process counts and knows of the deployment, for Prometheus. Labels have few values, all of them ours: a metric never
 * names an organization, a device or anything else of a tenant.
 */
export function createMetrics() {
  const registry = new Registry();
  const registers = [registry];
  return {
    registry,
    /** Called before the metrics are read, for values that need not be counted as they change. */
    observers: [] as (() => void)[],
    ...callMetrics(registers),
    ...workMetrics(registers),
    ...databaseMetrics(registers),
    ...bucketMetrics(registers),
    ...deploymentMetrics(registers),
    ...keepingMetrics(registers),
    ...siteMetrics(registers),
    ...diskMetrics(registers),
    ...processMetrics(registers),
  };
}

type Registers = Registry[];

function callMetrics(registers: Registers) {
  return {
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
    receivedBytes: new Counter({
      name: "downlink_http_received_bytes_total",
      help: "Bytes read from HTTP connections",
      registers,
    }),
    sentBytes: new Counter({
      name: "downlink_http_sent_bytes_total",
      help: "Bytes written to HTTP connections",
      registers,
    }),
    httpConnections: new Gauge({
      name: "downlink_http_connections",
      help: "HTTP connections that are open",
      registers,
    }),
  };
}

/** The exports, imports and jobs that this process works on. */
function workMetrics(registers: Registers) {
  return {
    exports: new Counter({
      name: "downlink_exports_total",
      help: "Export streams that ended, whole or broken off",
      labelNames: ["outcome"],
      registers,
    }),
    exportsActive: new Gauge({ name: "downlink_exports_active", help: "Export streams under way", registers }),
    imports: new Counter({
      name: "downlink_imports_total",
      help: "Attempts to import a file, by outcome: complete, failed for good, redelivered for other bytes than announced, or postponed",
      labelNames: ["outcome"],
      registers,
    }),
    bucketNotifications: new Counter({
      name: "downlink_bucket_notifications_total",
      help: "Notifications of customers' buckets: accepted, repeated, or of another bucket or name than the site's",
      labelNames: ["outcome"],
      registers,
    }),
    importedBytes: new Counter({
      name: "downlink_imported_bytes_total",
      help: "Bytes of files whose import is complete",
      registers,
    }),
    jobSeconds: new Histogram({
      name: "downlink_job_seconds",
      help: "Time that jobs took, by queue and outcome",
      labelNames: ["queue", "outcome"],
      buckets: JOB_SECONDS,
      registers,
    }),
  };
}

function databaseMetrics(registers: Registers) {
  return {
    databaseUp: new Gauge({
      name: "downlink_database_up",
      help: "Whether the database answered when this was read",
      registers,
    }),
    databaseConnections: new Gauge({
      name: "downlink_database_connections",
      help: "Connections of this process to its database",
      labelNames: ["state"],
      registers,
    }),
    databaseWaiting: new Gauge({
      name: "downlink_database_waiting",
      help: "Calls of this process that wait for a connection",
      registers,
    }),
  };
}

/** Values from the database, which are the same in every process. */
function deploymentMetrics(registers: Registers) {
  return {
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
    outboxEntries: new Gauge({
      name: "downlink_outbox_entries",
      help: "Deliveries to webhooks of the deployment that are still to be sent; 10001 where there are more",
      registers,
    }),
    oldestOutboxSeconds: new Gauge({
      name: "downlink_oldest_outbox_entry_seconds",
      help: "How long ago the oldest event happened that is still to be sent to a webhook",
      registers,
    }),
    agentsOnline: new Gauge({
      name: "downlink_agents_online",
      help: "Agents of the deployment that hold a lease",
      registers,
    }),
    webhooks: new Gauge({
      name: "downlink_webhooks",
      help: "Webhooks of the deployment by state: delivering, failing since the last success, or disabled after days of failures",
      labelNames: ["state"],
      registers,
    }),
  };
}

/** How safe the data of the deployment is; these values are the same in every process, too. */
function keepingMetrics(registers: Registers) {
  return {
    lastBackup: new Gauge({
      name: "downlink_last_backup_timestamp_seconds",
      help: "When the last backup of the deployment began that lacks nothing, in seconds since 1970; 0 before the first one",
      registers,
    }),
    recovering: new Gauge({
      name: "downlink_recovering",
      help: "Whether database and object store disagree, as after a restore, so that nothing is destroyed",
      registers,
    }),
    lastWholeRead: new Gauge({
      name: "downlink_last_whole_read_timestamp_seconds",
      help: "Since when all stored data was read and found to be what was imported, in seconds since 1970; 0 where there is none",
      registers,
    }),
    scrubbedBytes: new Counter({
      name: "downlink_scrubbed_bytes_total",
      help: "Stored bytes that this process read again by itself",
      registers,
    }),
    damagedRecordings: new Gauge({
      name: "downlink_damaged_recordings",
      help: "Imported recordings whose stored data is not what was imported",
      labelNames: ["reason"] as const,
      registers,
    }),
  };
}

/** The places outside of the deployment that it reads and writes; these values are the same in every process, too. */
function siteMetrics(registers: Registers) {
  return {
    sites: new Gauge({
      name: "downlink_self_hosted_sites",
      help: "Self-hosted sites that a process has served, by state: online while one holds the lease, or else away",
      labelNames: ["state"],
      registers,
    }),
    buckets: new Gauge({
      name: "downlink_customer_buckets",
      help: "Bring-your-own-bucket sites by state of their bucket at the last visit: readable, unreadable, or unknown before the first listing",
      labelNames: ["state"],
      registers,
    }),
  };
}

function diskMetrics(registers: Registers) {
  return {
    diskFreeBytes: new Gauge({
      name: "downlink_disk_free_bytes",
      help: "Room on the disk of this process's objects or database, where they are on this machine",
      labelNames: ["of"],
      registers,
    }),
    diskTotalBytes: new Gauge({
      name: "downlink_disk_total_bytes",
      help: "Size of the disk of this process's objects or database, where they are on this machine",
      labelNames: ["of"],
      registers,
    }),
  };
}

function bucketMetrics(registers: Registers) {
  return {
    bucketCallSeconds: new Histogram({
      name: "downlink_bucket_call_seconds",
      help: "Time of calls to the object store's bucket with all their attempts, of reads until the first byte, by verb and outcome: done, refused by an answer, failed, or aborted",
      labelNames: ["verb", "outcome"],
      buckets: BUCKET_SECONDS,
      registers,
    }),
  };
}

function processMetrics(registers: Registers) {
  return {
    stopping: new Gauge({
      name: "downlink_stopping",
      help: "Whether this process was told to stop",
      registers,
    }),
    cpuSeconds: new Counter({ name: "process_cpu_seconds_total", help: "CPU time of this process", registers }),
    residentBytes: new Gauge({ name: "process_resident_memory_bytes", help: "Memory of this process", registers }),
    eventLoopUtilization: new Gauge({
      name: "downlink_event_loop_utilization",
      help: "Share of the time since the last reading in which this process computed",
      registers,
    }),
  };
}
