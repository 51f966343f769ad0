import { createActions } from "../control/actions.ts";
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
  /** Whether the tree is still looked at: the disk answers, and the loops come round. */
  readonly isProgressing: () => boolean;
  /** In a few words. */
  readonly describe: () => string;
  /** To be called when settings that take effect at once have changed: whoever waits looks at them. */
  readonly onSettings: () => void;
  /** Carries out what somebody on the device asks. */
  readonly act: (request: unknown) => Promise<unknown>;
}

/** One that takes longer stands still. */
const LONGEST_SCAN_MS = 30 * 60_000;

/** Puts the loops together; none runs yet. They know of each other only by the wakeSignals they ring and what they record. */
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
      salvages: (signal) => runSalvages(core, signal),
      deletions: (signal) => deletions.run(signal),
      heartbeat: (signal) => runHeartbeat({ ...core, uploads, throttle }, signal),
      network: (signal) => throttle.run(signal),
    },
    isProgressing: () => clock.monotonicMs() - storageRoot.lastLookMs() < LONGEST_SCAN_MS + scanIntervalMs,
    act: createActions({ ...core, uploads, throttle, pause, localRequests }),
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
