import { openDatabaseToRead } from "../inventory/database.ts";
import type { FileState } from "../inventory/file-state.ts";
import { readOwnerFile } from "../inventory/owner.ts";
import { agentVersion } from "../version.ts";
import type { StatusDocument } from "./status-schema.ts";

/** What the state directory last knew, for when no agent answers. */
export function readOfflineStatus(options: {
  readonly stateDir: string;
  readonly apiUrl: string | undefined;
  readonly storageRoot: string | undefined;
}): StatusDocument {
  const owner = readOwnerFile(options.stateDir);
  return {
    version: 1,
    health: "not running",
    agent: { version: agentVersion, pid: null, startedAt: null },
    device: {
      id: owner.deviceId ?? null,
      name: owner.deviceName ?? null,
      projectId: owner.projectId ?? null,
      orgId: owner.orgId ?? null,
    },
    apiUrl: owner.apiUrl ?? options.apiUrl ?? null,
    stateDir: options.stateDir,
    connection: { state: "none", since: null, lastContactAt: null, clockSkewMs: null, lastError: null },
    storage: {
      root: options.storageRoot ?? null,
      isPresent: null,
      totalBytes: null,
      freeBytes: null,
      lastScanAt: null,
      lastScanMs: null,
    },
    files: countFiles(options.stateDir),
    transfers: [],
    problems: [],
  };
}

function countFiles(stateDir: string): StatusDocument["files"] {
  using database = openDatabaseToRead(stateDir);
  const rows = database?.prepare("SELECT state, count(*) AS files FROM files GROUP BY state").all() ?? [];
  return Object.fromEntries(rows.map(({ state, files }) => [state as FileState, Number(files)]));
}
