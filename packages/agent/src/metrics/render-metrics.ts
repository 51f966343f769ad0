import { printable } from "@downlink/terminal/printable";
import { fileStates } from "../inventory/file-state.ts";
import type { StatusDocument } from "../status/status-schema.ts";

type Sample = readonly [labels: Readonly<Record<string, string>>, value: number | null];

interface Metric {
  readonly name: string;
  readonly type: "counter" | "gauge";
  readonly help: string;
  /** Samples whose value is null are left out. */
  readonly samples: readonly Sample[];
}

const PREFIX = "downlink_agent_";

/** Renders the status, and the memory and CPU time of this process, as text for Prometheus. */
export function renderMetrics(status: StatusDocument, process: { rssBytes: number; cpuSeconds: number }): string {
  return [
    ...agentMetrics(status),
    ...fileMetrics(status),
    ...problemMetrics(status),
    ...uploadMetrics(status),
    ...processMetrics(process),
  ]
    .map(renderMetric)
    .join("");
}

function agentMetrics({ agent, health, connection }: StatusDocument): Metric[] {
  return [
    metric("info", "gauge", "1, with the version of the agent.", [[{ version: agent.version }, 1]]),
    metric("healthy", "gauge", "1 when there is no problem.", one(Number(health === "healthy"))),
    metric("connected", "gauge", "1 when the control plane answers.", one(Number(connection.state === "connected"))),
    metric(
      "last_contact_timestamp_seconds",
      "gauge",
      "Time of the control plane's last answer.",
      one(secondsOf(connection.lastContactAt)),
    ),
    metric(
      "clock_skew_seconds",
      "gauge",
      "The control plane's clock minus this one.",
      one(thousandth(connection.clockSkewMs)),
    ),
  ];
}

function fileMetrics({ files, storage, counters, deletions }: StatusDocument): Metric[] {
  return [
    metric(
      "files",
      "gauge",
      "Files by state.",
      fileStates.map((state) => [{ state }, files[state] ?? 0]),
    ),
    metric("storage_present", "gauge", "1 when the storage root is there.", one(Number(storage.isPresent === true))),
    metric("storage_bytes", "gauge", "Size of the disk under the storage root, and what is free of it.", [
      [{ kind: "total" }, storage.totalBytes],
      [{ kind: "free" }, storage.freeBytes],
    ]),
    metric("last_scan_timestamp_seconds", "gauge", "End of the last scan.", one(secondsOf(storage.lastScanAt))),
    metric("last_scan_duration_seconds", "gauge", "How long the last scan took.", one(thousandth(storage.lastScanMs))),
    metric("scans_total", "counter", "Scans since the start.", one(counters.scans)),
    metric(
      "deleted_files_total",
      "counter",
      "Files deleted by the agent since the start.",
      one(deletions.deletedFiles),
    ),
  ];
}

function problemMetrics({ problems }: StatusDocument): Metric[] {
  const samples = problems.map(({ code }): Sample => [{ code }, 1]);
  return [metric("problem", "gauge", "1 for each problem there is.", samples)];
}

function uploadMetrics({ transfers, throttle, counters }: StatusDocument): Metric[] {
  const rate = transfers.reduce((sum, { bytesPerSecond }) => sum + bytesPerSecond, 0);
  return [
    metric("uploads_running", "gauge", "Files being uploaded.", one(transfers.length)),
    metric("uploads_paused", "gauge", "1 while nothing may be uploaded.", one(Number(throttle.isPaused))),
    metric("upload_bytes_per_second", "gauge", "Bytes per second of all uploads together.", one(rate)),
    metric(
      "upload_limit_bytes_per_second",
      "gauge",
      "The upload limit in effect; absent without one.",
      one(throttle.bytesPerSecond),
    ),
    metric(
      "uploaded_bytes_total",
      "counter",
      "Bytes that the control plane stored durably since the start.",
      one(counters.uploadedBytes),
    ),
    metric("uploaded_files_total", "counter", "Files uploaded since the start.", one(counters.uploadedFiles)),
    metric(
      "failed_upload_tries_total",
      "counter",
      "Tries of an upload that failed since the start.",
      one(counters.failedTries),
    ),
  ];
}

function processMetrics({ rssBytes, cpuSeconds }: { rssBytes: number; cpuSeconds: number }): Metric[] {
  return [
    { name: "process_resident_memory_bytes", type: "gauge", help: "Memory of the agent.", samples: one(rssBytes) },
    {
      name: "process_cpu_seconds_total",
      type: "counter",
      help: "Processor time of the agent.",
      samples: one(cpuSeconds),
    },
  ];
}

function metric(
  name: string,
  type: Metric["type"],
  ...[help, samples]: [help: string, samples: readonly Sample[]]
): Metric {
  return { name: PREFIX + name, type, help, samples };
}

function one(value: number | null): readonly Sample[] {
  return [[{}, value]];
}

function secondsOf(time: string | null): number | null {
  return time === null ? null : Date.parse(time) / 1000;
}

function thousandth(value: number | null): number | null {
  return value === null ? null : value / 1000;
}

function renderMetric({ name, type, help, samples }: Metric): string {
  const lines = samples.flatMap(([labels, value]) =>
    value === null ? [] : [`${name}${renderLabels(labels)} ${value}\n`],
  );
  return lines.length === 0 ? "" : `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join("")}`;
}

function renderLabels(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(
    ([name, value]) => `${name}="${printable(value).replace(/[\\"]/g, "\\$&")}"`,
  );
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}
