import type { WantedImport } from "@downlink/protocol";

export interface UploadPlanInput {
  /** Requests to deliver whose file is here. */
  readonly deliverable: readonly WantedImport[];
  readonly running: ReadonlyMap<string, { readonly versionId: string }>;
  /** Whether a request waits after a failed try. */
  readonly isResting: (requestId: string) => boolean;
  readonly concurrency: number;
}

export interface UploadPlan {
  readonly start: readonly WantedImport[];
  readonly abort: readonly string[];
}

/** Chooses the higher priority first, then the older request, and never two uploads of one version at once. */
export function planUploads({ deliverable, running, isResting, concurrency }: UploadPlanInput): UploadPlan {
  const wantedIds = new Set(deliverable.map(({ requestId }) => requestId));
  const abort = [...running.keys()].filter((requestId) => !wantedIds.has(requestId));
  const busyVersions = new Set(Array.from(running.values(), ({ versionId }) => versionId));
  const start: WantedImport[] = [];
  for (const request of deliverable.toSorted(compareUrgency)) {
    if (running.size + start.length >= concurrency) break;
    if (running.has(request.requestId) || busyVersions.has(request.versionId) || isResting(request.requestId)) continue;
    busyVersions.add(request.versionId);
    start.push(request);
  }
  return { start, abort };
}

function compareUrgency(a: WantedImport, b: WantedImport): number {
  if (a.priority !== b.priority) return b.priority - a.priority;
  if (a.requestedAt !== b.requestedAt) return a.requestedAt < b.requestedAt ? -1 : 1;
  return a.requestId < b.requestId ? -1 : 1;
}
