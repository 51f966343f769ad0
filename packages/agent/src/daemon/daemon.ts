import { openTracing } from "@downlink/tracing";
import { readTraceSettings, type TraceSettings } from "@downlink/tracing/settings";
import { agentTransport } from "../cloud/agent-transport.ts";
import { serveControl } from "../control/control-socket.ts";
import type { Log } from "../diagnostics/log.ts";
import type { MetricsContext } from "../metrics/serve-metrics.ts";
import { openWayOut } from "../network/way-out.ts";
import { runServiceLoop } from "../service/service-loop.ts";
import { requireSetting, type SettingSources, type Settings } from "../settings/settings.ts";
import { openAgentState } from "../state/agent-state.ts";
import { serveStatus } from "../status/socket.ts";
import { type Clock, systemClock } from "../system/clock.ts";
import { agentVersion } from "../system/version.ts";
import { assembleAgent } from "./assemble-agent.ts";
import { followSettings } from "./follow-settings.ts";
import { runWith } from "./running-settings.ts";
import { supervise } from "./supervise.ts";

export interface DaemonOptions {
  readonly settings: Settings;
  /** The sources of the settings, which are followed while the agent runs; where they are absent, the settings stay as they are. */
  readonly sources?: SettingSources | undefined;
  readonly log: Log;
  readonly clock?: Clock;
  /** Ends the daemon: transfers are dropped, and what was found is recorded. */
  readonly signal: AbortSignal;
}

/**
 * Runs all loops of the agent on one state directory until aborted. Throws `StateRefusedError` and `InvalidSettingError`, which no
 * restart mends, and SQLite's error for state that turns out corrupt: the next start sets it aside. Where the settings changed,
 * returns those with which the agent has to start again.
 */
export async function runDaemon(options: DaemonOptions): Promise<Settings | undefined> {
  const { sources, log, clock = systemClock, signal } = options;
  const running = runWith(options.settings);
  const { settings } = running;
  const { stateDir } = settings;
  const apiUrl = requireSetting(settings, "apiUrl");
  const way = openWayOut(settings);
  using state = openAgentState(stateDir, { apiUrl, clock, log, settings, group: settings.stateGroup });
  await using transport = agentTransport(way);
  await using tracing = openTracing(traceSettingsOf(settings), { warn: (message) => log.warn(message) });
  using agent = assembleAgent({ settings, log, clock, state, transport, tracing });
  await using _status = await serveStatus(stateDir, agent.takeStatus);
  await using _control = await serveControl(stateDir, agent.act);
  await using _metrics = await openMetrics(settings, { ...agent, ...state, log });
  log.info(
    { version: agentVersion, root: settings.storageRoot, stateDir, files: state.inventory.size },
    "agent started",
  );
  const stop = new AbortController();
  const supervision = { log, problems: state.problems, signal: AbortSignal.any([signal, stop.signal]) };
  const isEnding = () => signal.aborted;
  const service = (serviceSignal: AbortSignal) => runServiceLoop({ ...agent, log, isEnding }, serviceSignal);
  let next: Settings | undefined;
  const following = sources && {
    ...{ sources, running, extraRoots: way.extraRoots, problems: state.problems, log },
    onAdopted() {
      log.level = settings.logLevel;
      agent.onSettings();
    },
    startAgain(wanted: Settings) {
      next = wanted;
      stop.abort();
    },
  };
  const follow = following && { settings: (ended: AbortSignal) => followSettings(following, ended) };
  const loops = Object.entries({ ...agent.loops, service, ...follow }).map(async ([name, loop]) => {
    try {
      await supervise(name, loop, supervision);
    } finally {
      stop.abort(); // A loop that ends, ends all: either everything is to stop, or the state cannot be used.
    }
  });
  const ends = await Promise.allSettled(loops);
  const failed = ends.find((end) => end.status === "rejected");
  if (failed) throw failed.reason;
  if (!signal.aborted && next) return next;
  log.info("agent stopped");
  return undefined;
}

/** The server for metrics is loaded only where metrics are wanted. */
async function openMetrics({ metricsAddress: address }: Settings, ctx: Omit<MetricsContext, "address">) {
  if (address === undefined) return undefined;
  const { serveMetrics } = await import("../metrics/serve-metrics.ts");
  return await serveMetrics({ ...ctx, address });
}

/** Returns where traces go; undefined: nothing is traced. */
function traceSettingsOf({ otlpEndpoint, otlpHeaders }: Settings): TraceSettings | undefined {
  const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: otlpEndpoint, OTEL_EXPORTER_OTLP_HEADERS: otlpHeaders };
  return readTraceSettings(environment, "downlink-agent");
}
