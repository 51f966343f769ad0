import type { UndiciTransport } from "@downlink/client/node";
import type { Tracing } from "@downlink/tracing";
import { type CloudSide, connectToCloud } from "../cloud/connect-to-cloud.ts";
import type { ReportState } from "../cloud/report-state.ts";
import { createRetentionHold, type RetentionHold } from "../cloud/retention-hold.ts";
import { createServerClock, type ServerClock } from "../cloud/server-clock.ts";
import { createServerTimeMemory } from "../cloud/server-time-memory.ts";
import { createFileSystems, type FileSystems } from "../deleting/file-systems.ts";
import { createProofs, type Proofs } from "../deleting/proofs.ts";
import type { Log } from "../diagnostics/log.ts";
import type { ProblemBoard } from "../diagnostics/problems.ts";
import { openStorageRoot, type StorageRoot } from "../files/storage-root.ts";
import { createYoungFiles, type YoungFiles } from "../files/young-files.ts";
import { type ExaminationNotes, openExaminationNotes } from "../indexing/examination-notes.ts";
import type { Inventory } from "../inventory/inventory.ts";
import { createTurns, type Turns } from "../loops/turns.ts";
import { createWakeSignal, type WakeSignal } from "../loops/wake-signal.ts";
import { createRecheckBoard, type RecheckBoard } from "../rechecks/recheck-board.ts";
import { createSeenCards, type SeenCards } from "../report/seen-cards.ts";
import { requireSetting, type Settings } from "../settings/settings.ts";
import type { AgentState } from "../state/agent-state.ts";
import type { StateFacts } from "../state/state-facts.ts";
import type { Clock } from "../system/clock.ts";

export interface AgentParts {
  readonly settings: Settings;
  readonly log: Log;
  readonly clock: Clock;
  readonly state: AgentState;
  readonly transport: UndiciTransport;
  readonly tracing: Tracing;
}

type WakeSignals = Readonly<Record<(typeof wakeSignalNames)[number], WakeSignal>>;

const wakeSignalNames = [
  "scanSignal",
  "youngSignal",
  "putOffSignal",
  "reportSignal",
  "workSignal",
  "salvageSignal",
  "cutSignal",
  "deleteSignal",
  "localRequestSignal",
] as const;

/** The parts that all loops share: the state, the cloud, the storage root, and each other's wake signals. */
export interface Core extends WakeSignals, CloudSide {
  readonly clock: Clock;
  readonly log: Log;
  readonly inventory: Inventory;
  readonly facts: StateFacts;
  readonly problems: ProblemBoard;
  readonly storageRoot: StorageRoot;
  readonly young: YoungFiles;
  readonly notes: ExaminationNotes;
  readonly fileSystems: FileSystems;
  readonly proofs: Proofs;
  readonly rechecks: RecheckBoard;
  readonly seenCards: SeenCards;
  readonly serverClock: ServerClock;
  readonly hold: RetentionHold;
  /** Deletions and scans take turns. */
  readonly treeTurns: Turns;
  /** The turns of calls over the connection on which the agent polls for work. */
  readonly restTurns: Turns;
  /** Whether the file is being checked, because it may be another version by now. */
  readonly isInRecheck: (versionId: string) => boolean;
  /** Whether a scan was completed since the start and the root is there. */
  readonly hasScanned: () => boolean;
  /** Whether the cloud knows all that is here. */
  readonly isListed: () => boolean;
}

export function openCore(parts: AgentParts): Core {
  const { settings, clock, log, state } = parts;
  const { inventory, facts, problems } = state;
  const wakeSignals = createWakeSignals();
  const serverClock = createServerClock(clock, createServerTimeMemory(facts));
  const hold = createRetentionHold(facts, serverClock);
  const cloud = connectToCloud(parts, wakeSignals, { serverClock, hold });
  const adoptsCards = () => settings.adoptsCards;
  const storageRoot = openStorageRoot(requireSetting(settings, "storageRoot"), { ...state, clock, adoptsCards });
  const fileSystems = createFileSystems(clock);
  const seenCards = createSeenCards(state);
  const hasScanned = () => storageRoot.current() !== undefined && storageRoot.lastScan() !== undefined;
  return {
    ...{ ...wakeSignals, ...cloud, clock, log, inventory, facts, problems, serverClock, hold },
    ...{ storageRoot, fileSystems, seenCards, hasScanned },
    ...watchedFiles(parts),
    notes: openExaminationNotes(settings.stateDir, { facts, clock }),
    proofs: createProofs({ inventory, fileSystems, clock }),
    treeTurns: createTurns(),
    restTurns: createTurns(),
    isListed: () => isComplete(cloud.reportState) && hasScanned() && seenCards.knowsAll(),
  };
}

/** Returns whether the cloud has received a listing of all files. */
function isComplete({ needsListing, isListingOpen }: ReportState): boolean {
  return needsListing === false && !isListingOpen;
}

function createWakeSignals(): WakeSignals {
  return Object.fromEntries(wakeSignalNames.map((name) => [name, createWakeSignal()])) as WakeSignals;
}

/** Remembers the files that are not examined yet, and those that may have changed since. */
function watchedFiles({ settings, clock, state }: AgentParts): Pick<Core, "young" | "rechecks" | "isInRecheck"> {
  const { scanIntervalMs: longestPauseMs, settleTimeMs, incompleteAfterMs } = settings;
  const { contentHash } = state.inventory;
  const rechecks = createRecheckBoard({ clock, contentHash, settleTimeMs, restlessAfterMs: incompleteAfterMs });
  return {
    young: createYoungFiles({ settleTimeMs, incompleteAfterMs, longestPauseMs }),
    rechecks,
    isInRecheck: rechecks.has,
  };
}
