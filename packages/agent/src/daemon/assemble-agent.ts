import type { UndiciTransport } from "@downlink/client/node";
import { connectToCloud } from "../cloud/connect-to-cloud.ts";
import { createRetentionHold } from "../cloud/retention-hold.ts";
import { createServerClock } from "../cloud/server-clock.ts";
import { createServerTimeMemory } from "../cloud/server-time-memory.ts";
import { createActions } from "../control/actions.ts";
import { createDeletions } from "../deleting/deletion-loop.ts";
import { createFileSystems } from "../deleting/file-systems.ts";
import { createProofs } from "../deleting/proofs.ts";
import type { Log } from "../diagnostics/log.ts";
import { changeCards } from "../files/change-cards.ts";
import { createDiskForecast } from "../files/disk-forecast.ts";
import { runIntake } from "../files/intake.ts";
import { createMarkerWatch } from "../files/marker-watch.ts";
import { matchFiles } from "../files/match-files.ts";
import type { Suspect } from "../files/plan-scan.ts";
import { runScans } from "../files/scan-loop.ts";
import { openStorageRoot } from "../files/storage-root.ts";
import { createDirectoryWatch, type DirectoryWatch } from "../files/watch.ts";
import { createYoungFiles } from "../files/young-files.ts";
import { openExaminationNotes } from "../indexing/examination-notes.ts";
import { createBell } from "../loops/bell.ts";
import { createTurns } from "../loops/turns.ts";
import { createRecheckBoard } from "../rechecks/recheck-board.ts";
import { createRechecks } from "../rechecks/recheck-loop.ts";
import { createAutoImport } from "../report/auto-import.ts";
import { createDeviceNaming } from "../report/name-device.ts";
import { runReports } from "../report/report-loop.ts";
import { createSeenCards } from "../report/seen-cards.ts";
import { runSalvages } from "../salvage/salvage-loop.ts";
import { requireSetting, type Settings } from "../settings/settings.ts";
import type { AgentState } from "../state/agent-state.ts";
import { shareNext } from "../status/bound-sockets.ts";
import { runHeartbeat } from "../status/heartbeat.ts";
import { summarize, takeSnapshot } from "../status/snapshot.ts";
import type { StatusDocument } from "../status/status-schema.ts";
import type { Clock } from "../system/clock.ts";
import { noteInstant } from "../system/instant.ts";
import { createThrottle } from "../uploads/throttle.ts";
import { createUploads, type UploadContext } from "../uploads/upload-loop.ts";
import { createUploadPause } from "../uploads/upload-pause.ts";
import { createWishes } from "../uploads/wishes.ts";
import { runWork } from "../uploads/work-loop.ts";

export interface AgentParts {
  readonly settings: Settings;
  readonly log: Log;
  readonly clock: Clock;
  readonly state: AgentState;
  readonly transport: UndiciTransport;
}

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

/** Puts the loops together; none runs yet. They know of each other only by the bells they ring and what they record. */
export function assembleAgent(parts: AgentParts): Agent {
  const { settings, clock } = parts;
  const { scanIntervalMs } = settings;
  const ground = layGround(parts);
  const { storageRoot, session, reportState } = ground;
  const { uploads, throttle, deletions, forecast, reporting, scanning, rechecks, pause, wishes } = assembleWorkers(
    ground,
    parts,
  );
  const { settle: settleDeletions } = deletions;
  const shown = {
    started: noteInstant(clock),
    stateDir: settings.stateDir,
    apiUrl: requireSetting(settings, "apiUrl"),
  };
  return {
    loops: {
      session: (signal) => session.run(signal),
      scan: (signal) => runScans({ ...ground, ...scanning, forecast, scanIntervalMs, settleDeletions }, signal),
      rechecks: (signal) => rechecks.run(signal),
      intake: (signal) => runIntake({ ...ground, storage: () => storageRoot.current() }, signal),
      report: (signal) =>
        runReports({ ...ground, ...reporting, knowsAllCards: ground.seenCards.knowsAll }, reportState, signal),
      work: (signal) => runWork(ground, signal),
      uploads: (signal) => uploads.run(signal),
      wishes: (signal) => wishes.run(signal),
      salvages: (signal) => runSalvages(ground, signal),
      deletions: (signal) => deletions.run(signal),
      heartbeat: (signal) => runHeartbeat({ ...ground, uploads, throttle }, signal),
      network: (signal) => throttle.run(signal),
    },
    isProgressing: () => clock.monotonicMs() - storageRoot.lastLookMs() < LONGEST_SCAN_MS + scanIntervalMs,
    act: createActions({ ...ground, uploads, throttle, pause, wishes }),
    describe: () => summarize({ ...ground, uploads }),
    onSettings() {
      for (const bell of [ground.scanBell, ground.reportBell, ground.workBell, ground.deleteBell]) bell.ring();
    },
    takeStatus: shareNext(() => takeSnapshot({ ...ground, ...shown, uploads, throttle, forecast, deletions })),
    [Symbol.dispose]() {
      scanning.watch?.[Symbol.dispose]();
      ground.fileSystems[Symbol.dispose]();
      ground.notes[Symbol.dispose]();
      scanning.markerWatch[Symbol.dispose]();
    },
  };
}

/** By which the loops wake each other. */
function createBells() {
  return {
    scanBell: createBell(),
    youngBell: createBell(),
    putOffBell: createBell(),
    reportBell: createBell(),
    workBell: createBell(),
    salvageBell: createBell(),
    deleteBell: createBell(),
    wishBell: createBell(),
  };
}

/** What all loops stand on. */
function layGround(parts: AgentParts) {
  const { settings, clock, log, state } = parts;
  const { inventory, facts, problems } = state;
  const bells = createBells();
  const serverClock = createServerClock(clock, createServerTimeMemory(facts));
  const hold = createRetentionHold(facts, serverClock);
  const cloud = connectToCloud(parts, bells, { serverClock, hold });
  const adoptsCards = () => settings.adoptsCards;
  const storageRoot = openStorageRoot(requireSetting(settings, "storageRoot"), { ...state, clock, adoptsCards });
  const { scanIntervalMs: longestPauseMs, settleTimeMs, incompleteAfterMs } = settings;
  const young = createYoungFiles({ settleTimeMs, incompleteAfterMs, longestPauseMs });
  const { contentHash } = inventory;
  const board = createRecheckBoard({ clock, contentHash, settleTimeMs, restlessAfterMs: incompleteAfterMs });
  const fileSystems = createFileSystems(clock);
  const proofs = createProofs({ inventory, fileSystems, clock });
  const treeTurns = createTurns();
  const restTurns = createTurns();
  const hasScanned = () => storageRoot.current() !== undefined && storageRoot.lastScan() !== undefined;
  const seenCards = createSeenCards(state);
  const isListed = () => cloud.reportState.needsListing === false && hasScanned() && seenCards.knowsAll();
  const trust = { fileSystems, proofs, rechecks: board, isInRecheck: board.has };
  const notes = openExaminationNotes(settings.stateDir, { facts, clock });
  const kept = { inventory, facts, problems, storageRoot, young, notes, treeTurns, restTurns, seenCards, ...trust };
  return { ...bells, ...cloud, ...kept, clock, log, serverClock, hold, hasScanned, isListed };
}

/** Those of the agent that remember something between two turns of a loop. */
function assembleWorkers(ground: ReturnType<typeof layGround>, { settings, transport, clock }: AgentParts) {
  const { storageRoot, workBell } = ground;
  const cloudSettings = ground.board.settings;
  const pause = createUploadPause({ facts: ground.facts, clock });
  const throttle = createThrottle({ clock, settings, cloudSettings, pause, onChange: workBell.ring });
  const { stateDir } = settings;
  const globs = () => settings.autoImport ?? cloudSettings()?.autoImport ?? [];
  const rechecks = assembleRechecks(ground);
  const showsChanges: UploadContext["showsChanges"] = async (storage, file) =>
    (await ground.fileSystems.look(storage, file)).showsChanges;
  return {
    throttle,
    rechecks,
    pause,
    wishes: createWishes(ground),
    uploads: createUploads({ ...ground, dispatcher: transport.dispatcher, throttle, showsChanges }),
    deletions: createDeletions({ ...ground, stateDir, quota: settings }),
    forecast: createDiskForecast(clock),
    reporting: {
      autoImport: createAutoImport({ ...ground, globs }),
      nameDevice: createDeviceNaming({ isSite: settings.siteToken !== undefined, ...settings }),
    },
    scanning: {
      noteSuspects: (suspects: readonly Suspect[]) => {
        ground.rechecks.sync(suspects);
        if (suspects.length > 0) rechecks.ring();
      },
      changeCards: async () => settings.adoptsCards && (await followCards(ground)),
      markerWatch: createMarkerWatch(storageRoot.path, ground.scanBell.ring),
      onScanned: ground.seenCards.noteScan,
      watch: settings.usesNotify ? openWatch(storageRoot.path, ground) : undefined,
      matches: matchFiles({ include: settings.watchInclude, exclude: settings.watchExclude }),
    },
  };
}

function assembleRechecks(ground: ReturnType<typeof layGround>) {
  const { storageRoot, board, proofs } = ground;
  const isWanted = (versionId: string) => board.byVersion().get(versionId)?.stage === "deliver";
  return createRechecks({ ...ground, storage: () => storageRoot.current(), isWanted, hashStep: proofs.stepFor });
}

/** What was found out about the one card, and is not kept, is not about another. */
async function followCards(ground: ReturnType<typeof layGround>): Promise<boolean> {
  const { storageRoot, fileSystems, rechecks } = ground;
  if (!(await changeCards({ ...ground, root: storageRoot.path }))) return false;
  fileSystems.forget();
  rechecks.sync([]);
  return true;
}

function openWatch(
  root: string,
  { scanBell, problems }: Pick<ReturnType<typeof layGround>, "scanBell" | "problems">,
): DirectoryWatch {
  const onDegraded = (message: string) => problems.raise("WatchLimit", message);
  const onComplete = () => problems.clear("WatchLimit");
  return createDirectoryWatch({ root, onHint: scanBell.ring, onDegraded, onComplete });
}
