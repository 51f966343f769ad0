import { createClient } from "@downlink/client";
import type { UndiciTransport } from "@downlink/client/node";
import type { AgentState } from "./agent-state.ts";
import { createBell } from "./bell.ts";
import type { Clock } from "./clock.ts";
import { createGreeting } from "./cloud/greeting.ts";
import { type CloudSession, createSession } from "./cloud/session.ts";
import { runIntake } from "./files/intake.ts";
import { matchFiles } from "./files/match-files.ts";
import { runScans } from "./files/scan-loop.ts";
import { openStorageRoot } from "./files/storage-root.ts";
import { createDirectoryWatch, type DirectoryWatch } from "./files/watch.ts";
import { createYoungFiles } from "./files/young-files.ts";
import { runHeartbeat } from "./heartbeat.ts";
import { createUploads } from "./imports/upload-loop.ts";
import { createWorkBoard, type WorkBoard } from "./imports/work-board.ts";
import { runWork } from "./imports/work-loop.ts";
import type { Log } from "./log.ts";
import { type ReportState, runReports } from "./report/report-loop.ts";
import { requireSetting, type Settings } from "./settings/settings.ts";
import { takeSnapshot } from "./status/snapshot.ts";
import type { StatusDocument } from "./status/status-schema.ts";

export interface AgentParts {
  readonly settings: Settings;
  readonly log: Log;
  readonly clock: Clock;
  readonly state: AgentState;
  readonly transport: UndiciTransport;
}

export interface Agent extends AsyncDisposable {
  readonly loops: Readonly<Record<string, (signal: AbortSignal) => Promise<void>>>;
  readonly takeStatus: () => Promise<StatusDocument>;
}

/** Puts the loops together; none runs yet. They know of each other only by the bells they ring and what they record. */
export function assembleAgent(parts: AgentParts): Agent {
  const { settings, clock, log, state, transport } = parts;
  const { scanIntervalMs, settleTimeMs, incompleteAfterMs, uploadConcurrency: concurrency } = settings;
  const bells = { scanBell: createBell(), youngBell: createBell(), reportBell: createBell(), workBell: createBell() };
  const cloud = connectToCloud(parts, bells);
  const { reportState } = cloud;
  const storageRoot = openStorageRoot(requireSetting(settings, "storageRoot"), state);
  const young = createYoungFiles({ settleTimeMs, incompleteAfterMs, longestPauseMs: scanIntervalMs });
  const { inventory, facts, problems } = state;
  const shared = { ...bells, ...cloud, clock, log, inventory, facts, problems, storageRoot, young };
  const hasScanned = () => storageRoot.current() !== undefined && storageRoot.lastScan() !== undefined;
  const isListed = () => reportState.needsListing === false && hasScanned();
  const uploads = createUploads({ ...shared, dispatcher: transport.dispatcher, concurrency, isListed });
  const watch = settings.usesNotify ? openWatch(storageRoot.path, shared) : undefined;
  const matches = matchFiles({ include: settings.watchInclude, exclude: settings.watchExclude });
  const shown = { startedNs: clock.nowNs(), stateDir: settings.stateDir, apiUrl: requireSetting(settings, "apiUrl") };
  return {
    loops: {
      session: (signal) => cloud.session.run(signal),
      scan: (signal) => runScans({ ...shared, matches, watch, scanIntervalMs }, signal),
      intake: (signal) => runIntake({ ...shared, storage: () => storageRoot.current() }, signal),
      report: (signal) => runReports({ ...shared, hasScanned }, reportState, signal),
      work: (signal) => runWork(shared, signal),
      uploads: (signal) => uploads.run(signal),
      heartbeat: (signal) => runHeartbeat(shared, signal),
    },
    takeStatus: () => takeSnapshot({ ...shared, ...shown, uploads }),
    [Symbol.asyncDispose]: async () => await watch?.[Symbol.asyncDispose](),
  };
}

type Bells = Record<"scanBell" | "youngBell" | "reportBell" | "workBell", ReturnType<typeof createBell>>;

function connectToCloud(
  { settings, clock, log, state, transport }: AgentParts,
  bells: Bells,
): { session: CloudSession; board: WorkBoard; reportState: ReportState } {
  const baseUrl = requireSetting(settings, "apiUrl");
  const client = createClient({ baseUrl, token: requireSetting(settings, "deviceToken"), transport });
  const board = createWorkBoard();
  const reportState: ReportState = { needsListing: undefined, hellos: 0, sequence: 0 };
  const greeting = createGreeting({ ...state, ...bells, clock, log, board, reportState });
  return { session: createSession({ client, clock, problems: state.problems, ...greeting }), board, reportState };
}

function openWatch(root: string, { scanBell, problems }: Bells & Pick<AgentState, "problems">): DirectoryWatch {
  const onDegraded = (message: string) => problems.raise("WatchLimit", message);
  return createDirectoryWatch({ root, onHint: scanBell.ring, onDegraded });
}
