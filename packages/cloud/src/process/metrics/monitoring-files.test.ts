import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { createMetrics } from "./metrics.ts";

const FOLDER = new URL("../../../monitoring/", import.meta.url);
/** Labels that Prometheus adds to each series, and to those of a histogram. */
const ADDED = ["job", "instance", "le"];

interface Dashboard {
  readonly panels: readonly { readonly title: string; readonly targets: readonly { readonly expr: string }[] }[];
}

async function readExpressions(): Promise<{ alerts: string[]; panels: string[] }> {
  const rules = await readFile(new URL("alerts.yml", FOLDER), "utf8");
  const dashboard = JSON.parse(await readFile(new URL("grafana-dashboard.json", FOLDER), "utf8")) as Dashboard;
  return {
    alerts: [...rules.matchAll(/expr: (['"])(.*)\1$/gm)].map((match) => match[2]!),
    panels: dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
  };
}

/** Lists the series by name, each with its labels. */
async function listSeries(): Promise<Map<string, string[]>> {
  const { registry } = createMetrics();
  const described = registry
    .getMetricsAsArray()
    .map((metric) => metric as unknown as { name: string; labelNames: string[] });
  const types = new Map((await registry.getMetricsAsJSON()).map(({ name, type }) => [name, String(type)]));
  return new Map(
    described.flatMap(({ name, labelNames }) => {
      const suffixes = types.get(name) === "histogram" ? ["_bucket", "_count", "_sum"] : [""];
      return suffixes.map((suffix) => [`${name}${suffix}`, [...labelNames, ...ADDED]] as const);
    }),
  );
}

test("every metric and label that an alert or a panel uses exists", async () => {
  const series = await listSeries();
  const { alerts, panels } = await readExpressions();
  assert.ok(alerts.length >= 10 && panels.length >= 16, `${alerts.length} alerts, ${panels.length} panels`);
  for (const expression of [...alerts, ...panels]) {
    const names = expression.match(/\b(?:downlink|process)_\w+/g) ?? [];
    assert.notEqual(names.length, 0, expression);
    const labels = names.flatMap((name) => series.get(name) ?? assert.fail(`there is no ${name}: ${expression}`));
    for (const [, name, selector] of expression.matchAll(/\b((?:downlink|process)_\w+)\{([^}]*)\}/g))
      for (const label of labelsOf(selector!)) assert.ok(series.get(name!)!.includes(label), `${name} has no ${label}`);
    for (const label of labelsOf(expression)) assert.ok(labels.includes(label), `no ${label} in ${expression}`);
  }
});

test("every alert says in a sentence what is wrong, and in another one what to do", async () => {
  const rules = (await readFile(new URL("alerts.yml", FOLDER), "utf8")).split("- alert: ").slice(1);
  for (const rule of rules) {
    const [name] = rule.split("\n");
    assert.match(rule, /severity: (critical|warning)\n/, name);
    for (const field of ["summary", "description"]) assert.match(rule, new RegExp(`${field}: (['"]).{20,}\\1`), name);
  }
});

test("every metric is on the dashboard", async () => {
  const shown = (await readExpressions()).panels.join("\n");
  for (const { name } of await createMetrics().registry.getMetricsAsJSON()) assert.ok(shown.includes(name), name);
});

/** Returns the labels that an expression selects by and sums by. */
function labelsOf(expression: string): string[] {
  const selected = [...expression.matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"/g)].map((match) => match[1]!);
  const grouped = [...expression.matchAll(/\bby \(([^)]*)\)/g)].flatMap((match) => match[1]!.split(/,\s*/));
  return [...selected, ...grouped];
}
