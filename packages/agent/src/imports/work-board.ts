import type { EdgeSettings, EdgeWork, WantedImport, WantedSalvage } from "@downlink/protocol";

/** What the cloud wants, as of its last answer, and what we did about it since. */
export interface WorkBoard {
  /** Undefined until the cloud has said anything. */
  settings(): EdgeSettings | undefined;
  wanted(): readonly WantedImport[];
  /** The newest request for each version. */
  byVersion(): ReadonlyMap<string, WantedImport>;
  /** Files of which the cloud wants what is readable. */
  salvages(): readonly WantedSalvage[];
  update(work: EdgeWork): void;
  noteSettings(settings: EdgeSettings): void;
  /** Delivered, or given up: not to be begun again until the cloud says more. */
  close(requestId: string): void;
  isClosed(requestId: string): boolean;
  /** Ids of ended requests that the cloud does not know to be noted here. */
  unacknowledged(): string[];
  acknowledged(requestIds: readonly string[]): void;
}

/** `onSettings` hears of every answer that carries settings. */
export function createWorkBoard(onSettings: (settings: EdgeSettings) => void = () => {}): WorkBoard {
  let settings: EdgeSettings | undefined;
  let wanted: readonly WantedImport[] = [];
  let byVersion: ReadonlyMap<string, WantedImport> = new Map();
  let salvages: readonly WantedSalvage[] = [];
  const closed = new Set<string>();
  const acknowledged = new Set<string>();
  return {
    settings: () => settings,
    wanted: () => wanted,
    byVersion: () => byVersion,
    salvages: () => salvages,
    update(work) {
      salvages = work.salvages;
      settings = work.settings;
      wanted = work.imports;
      byVersion = new Map(work.imports.toSorted(compareAge).map((request) => [request.versionId, request]));
      closed.clear();
      acknowledged.clear(); // an end that is still shown may be another one, after a retry
      onSettings(work.settings);
    },
    noteSettings(given) {
      settings = given;
      onSettings(given);
    },
    close: (requestId) => void closed.add(requestId),
    isClosed: (requestId) => closed.has(requestId),
    unacknowledged: () =>
      wanted
        .filter(({ stage, requestId }) => (stage === "imported" || stage === "failed") && !acknowledged.has(requestId))
        .map(({ requestId }) => requestId),
    acknowledged(requestIds) {
      for (const requestId of requestIds) acknowledged.add(requestId);
    },
  };
}

function compareAge(a: WantedImport, b: WantedImport): number {
  if (a.requestedAt !== b.requestedAt) return a.requestedAt < b.requestedAt ? -1 : 1;
  return a.requestId < b.requestId ? -1 : 1;
}
