import type { OpenDeps } from "./deps.ts";
import { noteAgentPoints } from "./edge/agent-points.ts";
import { noteOffline } from "./edge/note-offline.ts";
import { makeSalvage } from "./ingest/make-salvage.ts";
import { ingest } from "./ingest/pipeline.ts";
import { reconcile } from "./ingest/reconcile.ts";
import { reindexRecording } from "./ingest/reindex-recording.ts";
import { sweepBySchedule } from "./sweep/scheduled-sweep.ts";

const CONCURRENCY = 3;

/** Works on the jobs of this deployment until the queue is closed. */
export async function startWorker(deps: OpenDeps): Promise<void> {
  await deps.jobs.startWorking(
    {
      ingest: ({ requestId }, signal) => ingest(deps, requestId, signal),
      "ingest-large": ({ requestId }, signal) => ingest(deps, requestId, signal),
      "index-recording": ({ recordingId }, signal) =>
        reindexRecording(deps, { recordingId, signal }).then(() => undefined),
      salvage: ({ requestId }, signal) => makeSalvage(deps, requestId, signal),
      "remove-object": ({ blobKey }) => deps.blobs.delete(blobKey),
      reconcile: () => Promise.all([reconcile(deps), noteOffline(deps), noteAgentPoints(deps)]).then(() => undefined),
      sweep: (_data, signal) => sweepBySchedule(deps, signal),
    },
    CONCURRENCY,
  );
}
