import type { EdgeSettings, EdgeWork, WantedCut, WantedImport, WantedSalvage } from "@downlink/protocol";

/** One version of a file that a request asks for. The cloud may ask for another one under the same request, after the agent has lost its state. */
type Delivery = Pick<WantedImport, "requestId" | "versionId">;

/** The work that the cloud wanted in its last answer, and what the agent did about it since. */
export interface WorkBoard {
  /** Undefined until the first answer of the cloud. */
  settings(): EdgeSettings | undefined;
  /** The requests of the last answer. Where it says that there are more, those of earlier answers that were not cancelled, too. */
  wanted(): readonly WantedImport[];
  /** The newest request for each version. */
  byVersion(): ReadonlyMap<string, WantedImport>;
  /** Files whose readable content the cloud wants. */
  salvages(): readonly WantedSalvage[];
  /** Parts of files that the cloud wants; undefined until it has said so. */
  cuts(): readonly WantedCut[] | undefined;
  update(work: EdgeWork): void;
  noteSettings(settings: EdgeSettings): void;
  /** The version is delivered or given up: it is not begun again until the cloud names the request again. */
  close(delivery: Delivery): void;
  isClosed(delivery: Delivery): boolean;
  /** The cloud refused the version: it is closed, or the request is forgotten where the last answer does not name it. */
  refused(delivery: Delivery): void;
  /** Ids of ended requests that the agent has recorded and not acknowledged yet. */
  unacknowledged(): string[];
  acknowledged(requestIds: readonly string[]): void;
}

/** How many requests of earlier answers are kept. The cloud names those that are forgotten again when their turn comes. */
const MAX_KEPT = 10_000;

/** `onSettings` is called with every answer that carries settings. */
export function createWorkBoard(onSettings: (settings: EdgeSettings) => void = () => {}): WorkBoard {
  let settings: EdgeSettings | undefined;
  let salvages: readonly WantedSalvage[] = [];
  let cuts: readonly WantedCut[] | undefined;
  let cancelled: readonly string[] = [];
  const requests = createWantedImports();
  const closed = new Map<string, string>();
  const acknowledged = new Set<string>();
  const close = ({ requestId, versionId }: Delivery) => void closed.set(requestId, versionId);
  const noteSettings = (given: EdgeSettings) => {
    settings = given;
    onSettings(given);
  };
  return {
    settings: () => settings,
    wanted: requests.all,
    byVersion: requests.byVersion,
    salvages: () => salvages,
    cuts: () => cuts,
    update(work) {
      salvages = work.salvages;
      cuts = work.cuts;
      requests.update(work, (requestId) => acknowledged.has(requestId));
      cancelled = (work.cancelled ?? []).filter((requestId) => !requests.isNamed(requestId));
      // The last answer is newer for the requests that it names: an end among them may be another one, after a retry.
      for (const ids of [closed, acknowledged])
        for (const id of ids.keys()) if (requests.isNamed(id) || !requests.has(id)) ids.delete(id);
      noteSettings(work.settings);
    },
    noteSettings,
    close,
    isClosed: ({ requestId, versionId }) => closed.get(requestId) === versionId,
    refused(delivery) {
      const { requestId, versionId } = delivery;
      if (requests.isNamed(requestId)) close(delivery);
      else if (requests.byVersion().get(versionId)?.requestId === requestId) requests.remove(requestId);
    },
    unacknowledged() {
      const ended = requests.all().filter(({ stage }) => isEnded(stage));
      return [...ended.map(({ requestId }) => requestId), ...cancelled].filter((id) => !acknowledged.has(id));
    },
    acknowledged(requestIds) {
      for (const requestId of requestIds) acknowledged.add(requestId);
    },
  };
}

/** Keeps the requests of the last answer, and those of earlier answers that still hold. */
function createWantedImports() {
  let all: readonly WantedImport[] = [];
  let ids: ReadonlySet<string> = new Set();
  let byVersion: ReadonlyMap<string, WantedImport> = new Map();
  let named: ReadonlySet<string> = new Set();
  const set = (requests: readonly WantedImport[]) => {
    all = requests;
    ids = new Set(requests.map(({ requestId }) => requestId));
    byVersion = new Map(requests.toSorted(compareAge).map((request) => [request.versionId, request]));
  };
  return {
    all: () => all,
    byVersion: () => byVersion,
    has: (requestId: string) => ids.has(requestId),
    /** Whether the last answer names the request. */
    isNamed: (requestId: string) => named.has(requestId),
    remove: (requestId: string) => set(all.filter((request) => request.requestId !== requestId)),
    update({ imports, cancelled = [], more }: EdgeWork, isAcknowledged: (requestId: string) => boolean) {
      named = new Set(imports.map(({ requestId }) => requestId));
      const over = new Set(cancelled);
      const isKept = ({ requestId, stage }: WantedImport) =>
        !named.has(requestId) && !over.has(requestId) && !(isEnded(stage) && isAcknowledged(requestId));
      set(more ? [...imports, ...all.filter(isKept).slice(0, MAX_KEPT)] : imports);
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
