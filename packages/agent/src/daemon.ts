import { createClient } from "@downlink/client";
import { type UndiciTransport, undiciTransport } from "@downlink/client/node";
import { type AgentState, openAgentState } from "./agent-state.ts";
import { createBell } from "./bell.ts";
import { type Clock, systemClock } from "./clock.ts";
import { createGreeting } from "./cloud/greeting.ts";
import { createSession } from "./cloud/session.ts";
import { runIntake } from "./files/intake.ts";
import { matchFiles } from "./files/match-files.ts";
import { runScans } from "./files/scan-loop.ts";
import { openStorageRoot } from "./files/storage-root.ts";
import { createDirectoryWatch } from "./files/watch.ts";
import { createYoungFiles } from "./files/young-files.ts";
import { runHeartbeat } from "./heartbeat.ts";
import { createUploads } from "./imports/upload-loop.ts";
import { createWorkBoard } from "./imports/work-board.ts";
import { runWork } from "./imports/work-loop.ts";
import type { Log } from "./log.ts";
import { type ReportState, runReports } from "./report/report-loop.ts";
import { requireSetting, type Settings } from "./settings/settings.ts";
import { takeSnapshot } from "./status/snapshot.ts";
import { serveStatus } from "./status/socket.ts";
import type { StatusDocument } from "./status/status-schema.ts";
import { supervise } from "./supervise.ts";
import { agentVersion } from "./version.ts";

export interface DaemonOptions {
  readonly settings: Settings;
  readonly log: Log;
  readonly clock?: Clock;
  /** Ends the daemon: transfers are dropped, whatever was found is recorded. */
  readonly signal: AbortSignal;
}

/**
 * Runs all loops of the agent on one state directory until aborted. Throws `StateRefused` and `InvalidSetting`, which no
 * restart heals, and SQLite's error for state that turns out corrupt: the next start sets it aside.
 */
export async function runDaemon({ settings, log, clock = systemClock, signal }: DaemonOptions): Promise<void> {
  const { stateDir } = settings;
  const apiUrl = requireSetting(settings, "apiUrl");
  using state = openAgentState(stateDir, { apiUrl, clock, log });
  await using transport = undiciTransport();
  await using agent = assembleAgent({ settings, log, clock, state, transport });
  await using _status = await serveStatus(stateDir, agent.takeStatus);
  log.info(
    { version: agentVersion, root: settings.storageRoot, stateDir, files: state.inventory.size },
    "agent started",
  );
  const stop = new AbortController();
  const supervision = { log, problems: state.problems, signal: AbortSignal.any([signal, stop.signal]) };
  const loops = Object.entries(agent.loops).map(async ([name, loop]) => {
    try {
      await supervise(name, loop, supervision);
    } finally {
      stop.abort(); // One that ends, ends all: either everything is to stop, or state is unusable.
    }
  });
  const ends = await Promise.allSettled(loops);
  const failed = ends.find((end) => end.status === "rejected");
  if (failed) throw failed.reason;
  log.info("agent stopped");
}

interface Parts {
  readonly settings: Settings;
  readonly log: Log;
  readonly clock: Clock;
  readonly state: AgentState;
  readonly transport: UndiciTransport;
}

interface Agent extends AsyncDisposable {
  readonly loops: Readonly<Record<string, (signal: AbortSignal) => Promise<void>>>;
  readonly takeStatus: () => Promise<StatusDocument>;
}

/** Puts the loops together; none runs yet. */
function assembleAgent({ settings, log, clock, state, transport }: Parts): Agent {
  const bells = { scanBell: createBell(), youngBell: createBell(), reportBell: createBell(), workBell: createBell() };
  const apiUrl = requireSetting(settings, "apiUrl");
  const client = createClient({ baseUrl: apiUrl, token: requireSetting(settings, "deviceToken"), transport });
  const { inventory, facts, problems } = state;
  const board = createWorkBoard();
  const reportState: ReportState = { needsListing: undefined, hellos: 0 };
  const session = createSession({
    client,
    clock,
    problems,
    ...createGreeting({ ...state, ...bells, clock, log, board, reportState }),
  });
  const storageRoot = openStorageRoot(requireSetting(settings, "storageRoot"), state);
  const shared = {
    ...bells,
    clock,
    log,
    inventory,
    facts,
    problems,
    board,
    session,
    storageRoot,
    young: createYoungFiles(youngTimes(settings)),
  };
  const hasScanned = () => storageRoot.current() !== undefined && storageRoot.lastScan() !== undefined;
  const isListed = () => reportState.needsListing === false && hasScanned();
  const uploads = createUploads({
    ...shared,
    dispatcher: transport.dispatcher,
    concurrency: settings.uploadConcurrency,
    isListed,
  });
  const watch = settings.usesNotify ? openWatch(storageRoot.path, shared) : undefined;
  const matches = matchFiles({ include: settings.watchInclude, exclude: settings.watchExclude });
  const startedNs = clock.nowNs();
  return {
    loops: {
      session: (signal) => session.run(signal),
      scan: (signal) => runScans({ ...shared, matches, watch, scanIntervalMs: settings.scanIntervalMs }, signal),
      intake: (signal) => runIntake({ ...shared, storage: () => storageRoot.current() }, signal),
      report: (signal) => runReports({ ...shared, hasScanned }, reportState, signal),
      work: (signal) => runWork(shared, signal),
      uploads: (signal) => uploads.run(signal),
      heartbeat: (signal) => runHeartbeat(shared, signal),
    },
    takeStatus: () => takeSnapshot({ ...shared, startedNs, stateDir: settings.stateDir, apiUrl, uploads }),
    [Symbol.asyncDispose]: async () => await watch?.[Symbol.asyncDispose](),
  };
}

function youngTimes({ settleTimeMs, incompleteAfterMs, scanIntervalMs }: Settings) {
  return { settleTimeMs, incompleteAfterMs, longestPauseMs: scanIntervalMs };
}

function openWatch(
  root: string,
  { scanBell, problems }: { scanBell: { ring(): void }; problems: AgentState["problems"] },
) {
  return createDirectoryWatch({
    root,
    onHint: scanBell.ring,
    onDegraded: (message) => problems.raise("WatchLimit", message),
  });
}
