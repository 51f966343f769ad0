import { traceCalls } from "../cloud/trace-calls.ts";
import { createDeletions, type Deletions } from "../deleting/deletion-loop.ts";
import { changeCards } from "../files/change-cards.ts";
import { createDiskForecast, type DiskForecast } from "../files/disk-forecast.ts";
import { createMarkerWatch } from "../files/marker-watch.ts";
import { matchFiles } from "../files/match-files.ts";
import type { ScanLoopContext } from "../files/scan-loop.ts";
import { createDirectoryWatch, type DirectoryWatch } from "../files/watch.ts";
import { createRechecks, type Rechecks } from "../rechecks/recheck-loop.ts";
import { createAutoImport } from "../report/auto-import.ts";
import { createDeviceNaming } from "../report/name-device.ts";
import type { ReportContext } from "../report/report-loop.ts";
import type { Settings } from "../settings/settings.ts";
import { createLocalRequests, type LocalRequests } from "../uploads/local-requests.ts";
import { createThrottle, type Throttle } from "../uploads/throttle.ts";
import { createUploads, type UploadContext, type Uploads } from "../uploads/upload-loop.ts";
import { createUploadPause, type UploadPause } from "../uploads/upload-pause.ts";
import type { AgentParts, Core } from "./core.ts";

/** The parts of the agent that remember something between two turns of a loop. */
export interface Workers {
  readonly throttle: Throttle;
  readonly rechecks: Rechecks;
  readonly pause: UploadPause;
  readonly localRequests: LocalRequests;
  readonly uploads: Uploads;
  readonly deletions: Deletions;
  readonly forecast: DiskForecast;
  readonly reporting: Pick<ReportContext, "autoImport" | "nameDevice">;
  readonly scanning: Scanning;
}

/** The part of the scans' context that only scans use. */
type Scanning = Pick<
  ScanLoopContext,
  "noteSuspects" | "changeCards" | "markerWatch" | "onScanned" | "watch" | "matches"
>;

export function assembleWorkers(core: Core, { settings, transport, tracing, clock }: AgentParts): Workers {
  const { workSignal } = core;
  const cloudSettings = core.board.settings;
  const pause = createUploadPause({ facts: core.facts, clock });
  const throttle = createThrottle({ clock, settings, cloudSettings, pause, onChange: workSignal.notify });
  const { stateDir } = settings;
  const globs = () => settings.autoImport ?? cloudSettings()?.autoImport ?? [];
  const rechecks = assembleRechecks(core);
  const showsChanges: UploadContext["showsChanges"] = async (storage, file) =>
    (await core.fileSystems.look(storage, file)).showsChanges;
  return {
    throttle,
    rechecks,
    pause,
    localRequests: createLocalRequests(core),
    uploads: createUploads({
      ...{ ...core, tracing, throttle, showsChanges },
      transport: traceCalls(transport, tracing),
      dispatcher: transport.dispatcher,
    }),
    deletions: createDeletions({ ...core, stateDir, quota: settings }),
    forecast: createDiskForecast(clock),
    reporting: {
      autoImport: createAutoImport({ ...core, globs }),
      nameDevice: createDeviceNaming({ isSite: settings.siteToken !== undefined, ...settings }),
    },
    scanning: assembleScanning(core, settings, rechecks),
  };
}

function assembleScanning(core: Core, settings: Settings, rechecks: Rechecks): Scanning {
  const { storageRoot } = core;
  return {
    noteSuspects(suspects) {
      core.rechecks.sync(suspects);
      if (suspects.length > 0) rechecks.notify();
    },
    changeCards: async () => settings.adoptsCards && (await followCards(core)),
    markerWatch: createMarkerWatch(storageRoot.path, core.scanSignal.notify),
    onScanned: core.seenCards.noteScan,
    watch: settings.usesNotify ? openWatch(storageRoot.path, core) : undefined,
    matches: matchFiles({ include: settings.watchInclude, exclude: settings.watchExclude }),
  };
}

function assembleRechecks(core: Core): Rechecks {
  const { storageRoot, board, proofs } = core;
  const isWanted = (versionId: string) => board.byVersion().get(versionId)?.stage === "deliver";
  return createRechecks({ ...core, storage: () => storageRoot.current(), isWanted, hashStep: proofs.stepFor });
}

/** Facts about one card that are only in memory must not be used for another. */
async function followCards(core: Core): Promise<boolean> {
  const { storageRoot, fileSystems, rechecks } = core;
  if (!(await changeCards({ ...core, root: storageRoot.path }))) return false;
  fileSystems.forget();
  rechecks.sync([]);
  return true;
}

function openWatch(root: string, { scanSignal, problems }: Pick<Core, "scanSignal" | "problems">): DirectoryWatch {
  const onDegraded = (message: string) => problems.raise("WatchLimit", message);
  const onComplete = () => problems.clear("WatchLimit");
  return createDirectoryWatch({ root, onHint: scanSignal.notify, onDegraded, onComplete });
}
