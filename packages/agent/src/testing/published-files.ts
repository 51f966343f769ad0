import { problemTexts } from "../diagnostics/problems.ts";
import { renderMetrics } from "../metrics/render-metrics.ts";
import { statusSchema } from "../status/status-schema.ts";
import { healthyStatus, problem } from "./sample-status.ts";

/** Makes the pages and the schema that are published beside the program from its tables: their texts by their paths in the checkout. */
export function publishedFiles(): Readonly<Record<string, string>> {
  return {
    "docs/reference/agent-metrics.md": metricsPage(),
    "docs/reference/agent-problems.md": problemsPage(),
    "packages/agent/status.schema.json": statusSchemaFile(),
  };
}

function problemsPage(): string {
  const sections = Object.entries(problemTexts).map(
    ([code, { title, cause, fix }]) => `## ${code}\n\n**${title}.** ${cause}\n\n**To do:** ${fix}\n`,
  );
  return `# What may go wrong

\`agent status\` names each trouble by a code that stays the same, and is \`degraded\` as long as there is one. \`agent explain <file>\`
says whether it stops a file. This page is made from \`packages/agent/src/diagnostics/problems.ts\` by \`packages/agent/src/testing/write-published-files.ts\`.

${sections.join("\n")}`;
}

/** Makes the page from what the agent would serve, with all metrics that may be absent. */
function metricsPage(): string {
  const throttle = { ...healthyStatus.throttle, bytesPerSecond: 1 };
  const storage = { ...healthyStatus.storage, fullInSeconds: 1 };
  const status = { ...healthyStatus, throttle, storage, problems: [problem("WatchLimit", "")] };
  const lines = renderMetrics(status, { rssBytes: 1, cpuSeconds: 1 }).split("\n");
  const types = new Map(
    lines.flatMap((line) => [...line.matchAll(/^# TYPE (\S+) (\S+)/g)].map(([, name, type]) => [name!, type!])),
  );
  const rows = lines.flatMap((line) =>
    [...line.matchAll(/^# HELP (\S+) (.+)/g)].map(
      ([, name, help]) => `| \`${name}\` | ${types.get(name!)} | ${help} |`,
    ),
  );
  return `# Metrics

\`GET /metrics\` at \`DOWNLINK_METRICS_ADDRESS\`, as text for Prometheus. There is no access control: listen on the loopback address, or
where only the collector comes. Counters begin with the process. This page is made by \`packages/agent/src/testing/write-published-files.ts\`.

| Metric | Type | Meaning |
|---|---|---|
${rows.join("\n")}
`;
}

/** Readers accept fields that a later agent adds within the same version. */
function statusSchemaFile(): string {
  const open = JSON.stringify(statusSchema, (key, value: unknown) =>
    key === "additionalProperties" && value === false ? undefined : value,
  );
  return `${JSON.stringify(JSON.parse(open), null, 2)}\n`;
}
