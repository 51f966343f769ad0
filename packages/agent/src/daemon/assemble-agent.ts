import { createActions } from "../control/actions.ts";
import { runCuts } from "../cuts/cut-loop.ts";
import { runIntake } from "../files/intake.ts";
import { runScans } from "../files/scan-loop.ts";
import { runReports } from "../report/report-loop.ts";
import { runSalvages } from "../salvage/salvage-loop.ts";
import { requireSetting } from "../settings/settings.ts";
import { shareNext } from "../status/bound-sockets.ts";
import { runHeartbeat } from "../status/heartbeat.ts";
import { summarize, takeSnapshot } from "../status/snapshot.ts";
import type { StatusDocument } from "../status/status-schema.ts";
import { noteInstant } from "../system/instant.ts";
import { runWork } from "../uploads/work-loop.ts";
import { type AgentParts, openCore } from "./core.ts";
import { assembleWorkers } from "./workers.ts";

export interface Agent extends Disposable {
  readonly loops: Readonly<Record<string, (signal: AbortSignal) => Promise<void>>>;
  readonly takeStatus: () => Promise<StatusDocument>;
  /** Whether scans still make progress: the disk answers, and the loops run. */
  readonly isProgressing: () => boolean;
  /** The status in a few words. */
  readonly describe: () => string;
  /** Must be called when settings that take effect at once have changed: it wakes the loops that use them. */
  readonly onSettings: () => void;
  /** Carries out a request of a user on the device. */
  readonly act: (request: unknown) => Promise<unknown>;
}

/** A scan that takes longer makes no progress. */
const LONGEST_SCAN_MS = 30 * 60_000;

/** Puts the loops together; none runs yet. They know of each other only by their wake signals and by what they record. */
export function assembleAgent(parts: AgentParts): Agent {
  const { settings, clock } = parts;
  const { scanIntervalMs } = settings;
  const core = openCore(parts);
  const { storageRoot, session, reportState } = core;
  const { uploads, throttle, deletions, forecast, reporting, scanning, rechecks, pause, localRequests } =
    assembleWorkers(core, parts);
  const { settle: settleDeletions } = deletions;
  const shown = {
    started: noteInstant(clock),
    stateDir: settings.stateDir,
    apiUrl: requireSetting(settings, "apiUrl"),
  };
  return {
    loops: {
      session: (signal) => session.run(signal),
      scan: (signal) => runScans({ ...core, ...scanning, forecast, scanIntervalMs, settleDeletions }, signal),
      rechecks: (signal) => rechecks.run(signal),
      intake: (signal) => runIntake({ ...core, storage: () => storageRoot.current() }, signal),
      report: (signal) =>
        runReports({ ...core, ...reporting, knowsAllCards: core.seenCards.knowsAll }, reportState, signal),
      work: (signal) => runWork(core, signal),
      uploads: (signal) => uploads.run(signal),
      localRequests: (signal) => localRequests.run(signal),
      salvages: (signal) => runSalvages({ ...core, quota: settings }, signal),
      cuts: (signal) => runCuts({ ...core, quota: settings }, signal),
      deletions: (signal) => deletions.run(signal),
      heartbeat: (signal) => runHeartbeat({ ...core, uploads, throttle }, signal),
      network: (signal) => throttle.run(signal),
    },
    isProgressing: () => clock.monotonicMs() - storageRoot.lastLookMs() < LONGEST_SCAN_MS + scanIntervalMs,
    act: createActions({ ...core, uploads, throttle, pause, localRequests, deletions }),
    describe: () => summarize({ ...core, uploads }),
    onSettings() {
      for (const wakeSignal of [core.scanSignal, core.reportSignal, core.workSignal, core.deleteSignal])
        wakeSignal.notify();
    },
    takeStatus: shareNext(() => takeSnapshot({ ...core, ...shown, uploads, throttle, forecast, deletions })),
    [Symbol.dispose]() {
      scanning.watch?.[Symbol.dispose]();
      core.fileSystems[Symbol.dispose]();
      core.notes[Symbol.dispose]();
      scanning.markerWatch[Symbol.dispose]();
    },
  };
}
