import type { FileState } from "../inventory/file-state.ts";
import { openDatabaseToRead } from "../state/database.ts";
import { readOwnerFile } from "../state/owner.ts";
import { readPause } from "../state/state-facts.ts";
import { readingState } from "../state/state-unreadable.ts";
import { agentVersion } from "../system/version.ts";
import { describePause } from "./describe-pause.ts";
import type { StatusDocument } from "./status-schema.ts";

/** Reads the status from the state directory, for commands that find no running agent. */
export function readOfflineStatus(options: {
  readonly stateDir: string;
  readonly stateGroup: string;
  readonly apiUrl: string | undefined;
  readonly storageRoot: string | undefined;
}): StatusDocument {
  const owner = readingState(options, () => readOwnerFile(options.stateDir));
  return {
    version: 1,
    health: "not running",
    agent: { version: agentVersion, pid: null, startedAt: null },
    device: {
      id: owner.deviceId ?? null,
      name: owner.deviceName ?? null,
      projectId: owner.projectId ?? null,
      projectName: owner.projectName ?? null,
      orgId: owner.orgId ?? null,
    },
    site: { id: owner.siteId ?? null, name: owner.siteName ?? null },
    apiUrl: owner.apiUrl ?? options.apiUrl ?? null,
    stateDir: options.stateDir,
    connection: { state: "none", since: null, lastContactAt: null, clockSkewMs: null, lastError: null },
    storage: {
      root: options.storageRoot ?? null,
      isPresent: null,
      totalBytes: null,
      usedBytes: null,
      freeBytes: null,
      fullInSeconds: null,
      lastScanAt: null,
      lastScanMs: null,
    },
    files: countFiles(options),
    transfers: [],
    retries: [],
    throttle: { isPaused: false, text: null, bytesPerSecond: null, until: null, interface: null, isSlowLink: false },
    pause: readLastPause(options),
    deletions: {
      planned: [],
      nextPath: null,
      waiting: { files: 0, text: null },
      heldUntil: null,
      deletedFiles: 0,
      last: [],
    },
    counters: { uploadedBytes: 0, uploadedFiles: 0, failedTries: 0, scans: 0 },
    problems: [],
  };
}

function readLastPause(place: Parameters<typeof openDatabaseToRead>[0]): StatusDocument["pause"] {
  using database = openDatabaseToRead(place);
  return describePause(database && readPause(database));
}

function countFiles(place: Parameters<typeof openDatabaseToRead>[0]): StatusDocument["files"] {
  using database = openDatabaseToRead(place);
  const rows = database?.prepare("SELECT state, count(*) AS files FROM files GROUP BY state").all() ?? [];
  return Object.fromEntries(rows.map(({ state, files }) => [state as FileState, Number(files)]));
}
