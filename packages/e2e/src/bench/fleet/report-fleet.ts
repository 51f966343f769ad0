import { cpus } from "node:os";
import { makeTable } from "../../terminal/make-table.ts";
import { say } from "../report.ts";
import type { MemoryParts } from "./memory-parts.ts";
import type { ReadTimes } from "./reader.ts";
import type { FleetCounts } from "./simulated-agent.ts";

export interface Span {
  readonly name: string;
  readonly seconds: number;
  /** The times of the client that reads the API beside it. */
  readonly times: ReadTimes;
  /** The number of busy processors. */
  readonly cpu: { readonly cloud: number; readonly postgres: number; readonly agents: number };
}

export interface FleetRun {
  readonly agentCount: number;
  readonly quiet: { readonly times: ReadTimes; readonly memory: MemoryParts };
  /** The spans in which all begin, rest, and come back. */
  readonly spans: readonly [Span, Span, Span];
  readonly resting: MemoryParts;
  readonly figures: FleetCounts;
  /** How many had come back at the end. */
  readonly settled: number;
}

const WANTED = { p99Ms: 100, stormSeconds: 120, kilobytes: 30 };

/** Returns false if a lease was lost, a call failed, or an agent did not come back. */
export function reportFleet({ agentCount, quiet, spans, resting, figures, settled }: FleetRun): boolean {
  const table = makeTable(["", "s", "API p50 ms", "p99", "max", "failed", "CPUs: control plane", "Postgres", "agents"]);
  table.push(["nobody", "", ...timesOf(quiet.times), "", "", ""]);
  for (const { name, seconds, times, cpu } of spans)
    table.push([
      name,
      seconds.toFixed(0),
      ...timesOf(times),
      cpu.cloud.toFixed(2),
      cpu.postgres.toFixed(2),
      cpu.agents.toFixed(2),
    ]);
  say(table.toString());
  const [, rest, storm] = spans;
  const kilobytesOf = (part: keyof MemoryParts) => ((resting[part] - quiet.memory[part]) * 1000) / agentCount;
  const wanted = makeTable(["", "measured", "wanted"]);
  wanted.push(
    row("API p99 beside those who rest, ms", rest.times.p99Ms, WANTED.p99Ms),
    row("until all are back, s", storm.seconds, WANTED.stormSeconds),
    row("memory of an agent that waits, kB", kilobytesOf("rss"), WANTED.kilobytes),
    row("leases lost", figures.leasesLost, 0),
    row("calls that failed", figures.failures, 0),
    row("agents that did not come back", agentCount - settled, 0),
  );
  say(wanted.toString());
  const { hellos, polls, heartbeats, reports, postponed } = figures;
  say(
    `${agentCount} agents: ${hellos} hellos, ${polls} polls, ${heartbeats} heartbeats, ${reports} reports, ${postponed} times told to wait`,
  );
  if (figures.lastFailure) say(`last refusal: ${figures.lastFailure}`);
  say(
    `RSS ${quiet.memory.rss.toFixed(0)} MB with nobody, ${resting.rss.toFixed(0)} MB with all at rest; of an agent's are`,
  );
  const parts = { live: "objects that live", heap: "the whole heap", external: "buffers" } as const;
  for (const [part, name] of Object.entries(parts))
    say(`  ${kilobytesOf(part as keyof typeof parts).toFixed(1)} kB ${name}`);
  say(`on ${cpus().length} × ${cpus()[0]?.model}, shared by control plane, Postgres and agents`);
  return figures.leasesLost + figures.failures === 0 && settled === agentCount;
}

function timesOf({ p50Ms, p99Ms, maxMs, failed }: ReadTimes): string[] {
  return [p50Ms.toFixed(1), p99Ms.toFixed(1), maxMs.toFixed(0), String(failed)];
}

function row(what: string, measured: number, wanted: number): string[] {
  const mark = measured > wanted ? " !" : "";
  return [what, `${Number.isInteger(measured) ? measured : measured.toFixed(1)}${mark}`, `≤ ${wanted}`];
}
