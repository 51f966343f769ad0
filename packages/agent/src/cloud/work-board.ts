import type { EdgeSettings, EdgeWork, WantedImport, WantedSalvage } from "@downlink/protocol";

/** What the cloud wants, as of its last answer, and what we did about it since. */
export interface WorkBoard {
  /** Undefined until the cloud has said anything. */
  settings(): EdgeSettings | undefined;
  /** Of the last answer; and where that says that there is more, those of earlier answers that were not cancelled. */
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
  /** The cloud does not want it any more: closed, or forgotten where its last answer does not name it. */
  refused(requestId: string): void;
  /** Ids of ended requests that the cloud does not know to be noted here. */
  unacknowledged(): string[];
  acknowledged(requestIds: readonly string[]): void;
}

/** Beyond those of the last answer; what is forgotten the cloud names again when its turn comes. */
const MAX_KEPT = 10_000;

/** `onSettings` hears of every answer that carries settings. */
export function createWorkBoard(onSettings: (settings: EdgeSettings) => void = () => {}): WorkBoard {
  let settings: EdgeSettings | undefined;
  let wanted: readonly WantedImport[] = [];
  let byVersion: ReadonlyMap<string, WantedImport> = new Map();
  let salvages: readonly WantedSalvage[] = [];
  let named: ReadonlySet<string> = new Set();
  let cancelled: readonly string[] = [];
  const closed = new Set<string>();
  const acknowledged = new Set<string>();
  const want = (requests: readonly WantedImport[]) => {
    wanted = requests;
    byVersion = new Map(requests.toSorted(compareAge).map((request) => [request.versionId, request]));
  };
  return {
    settings: () => settings,
    wanted: () => wanted,
    byVersion: () => byVersion,
    salvages: () => salvages,
    update(work) {
      salvages = work.salvages;
      settings = work.settings;
      named = new Set(work.imports.map(({ requestId }) => requestId));
      cancelled = (work.cancelled ?? []).filter((requestId) => !named.has(requestId));
      const isOver = new Set(cancelled);
      const kept = wanted.filter(({ requestId, stage }) => {
        if (named.has(requestId) || isOver.has(requestId)) return false;
        return !isEnded(stage) || !acknowledged.has(requestId);
      });
      want(work.more ? [...work.imports, ...kept.slice(0, MAX_KEPT)] : work.imports);
      const left = new Set(wanted.map(({ requestId }) => requestId));
      // What the cloud names it has spoken about anew: an end that is still shown may be another one, after a retry.
      for (const ids of [closed, acknowledged])
        for (const id of ids) if (named.has(id) || !left.has(id)) ids.delete(id);
      onSettings(work.settings);
    },
    noteSettings(given) {
      settings = given;
      onSettings(given);
    },
    close: (requestId) => void closed.add(requestId),
    isClosed: (requestId) => closed.has(requestId),
    refused(requestId) {
      if (named.has(requestId)) closed.add(requestId);
      else want(wanted.filter((request) => request.requestId !== requestId));
    },
    unacknowledged: () =>
      [...wanted.filter(({ stage }) => isEnded(stage)).map(({ requestId }) => requestId), ...cancelled].filter(
        (requestId) => !acknowledged.has(requestId),
      ),
    acknowledged(requestIds) {
      for (const requestId of requestIds) acknowledged.add(requestId);
    },
  };
}

function isEnded(stage: WantedImport["stage"]): boolean {
  return stage === "imported" || stage === "failed";
}

function compareAge(a: WantedImport, b: WantedImport): number {
  if (a.requestedAt !== b.requestedAt) return a.requestedAt < b.requestedAt ? -1 : 1;
  return a.requestId < b.requestId ? -1 : 1;
}
