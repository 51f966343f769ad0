import { lookAtNoted } from "./buckets/bucket-objects/look-at-object.ts";
import { queueVisits, visitBucket } from "./buckets/bucket-objects/visit-bucket.ts";
import { forgetNotifications } from "./buckets/notifications/forget-notifications.ts";
import { withSmallHeap } from "./core/heap-growth.ts";
import { makeThumbnails } from "./data/thumbnails/make-thumbnails.ts";
import { buildTrainingSet } from "./data/training/build-set.ts";
import { prepareView } from "./data/view-links/prepare-view.ts";
import type { OpenDeps } from "./deps.ts";
import { noteAgentPoints } from "./edge/standing/agent-points.ts";
import { noteOffline } from "./edge/standing/note-offline.ts";
import { askForCutsAgain } from "./fleet/agents/cuts.ts";
import { makeSalvage } from "./imports/ingest/make-salvage.ts";
import { ingest } from "./imports/ingest/pipeline.ts";
import { readStored } from "./imports/ingest/read-stored.ts";
import { reconcile } from "./imports/ingest/reconcile.ts";
import { reindexRecording } from "./imports/ingest/reindex-recording.ts";
import { readKey } from "./keeping/backup/read-key.ts";
import { backUpBySchedule } from "./keeping/backup/scheduled-backup.ts";
import { scrubStore } from "./keeping/integrity/scrub.ts";
import { removeOrPutOff } from "./keeping/manifests/remove-or-put-off.ts";
import { sweepBySchedule } from "./keeping/sweep/scheduled-sweep.ts";
import { forgetEvents } from "./organization/webhooks/forget-events.ts";
import { WebhookSender } from "./organization/webhooks/webhook-sender.ts";
import { noteOrWarn } from "./recovery/note-entries.ts";
import { heal, verifyAgain } from "./restoring/adoption/heal.ts";
import { walkStore } from "./restoring/adoption/walk.ts";
import { replayLedger } from "./restoring/replay/replay-ledger.ts";
import { judgeListed } from "./site/site-work/judge-listed.ts";

const CONCURRENCY = 3;

/** Works on the jobs of this deployment until the queue is closed, and sends to its webhooks until what it returns is disposed of. */
export async function startWorker(deps: OpenDeps): Promise<AsyncDisposable> {
  const { backups } = deps.scheduledBackups.settings;
  await readKey(backups.address.keyFile); // an operator learns at the start that it cannot be read
  await deps.jobs.startWorking(
    {
      ingest: ({ requestId }, signal) => ingest(deps, requestId, signal),
      "ingest-large": ({ requestId }, signal) => ingest(deps, requestId, signal),
      "index-recording": ({ recordingId }, signal) =>
        reindexRecording(deps, { recordingId, signal }).then(() => undefined),
      "read-stored": ({ recordingId }, signal) => readStored(deps, { recordingId, signal }).then(() => undefined),
      salvage: ({ requestId }, signal) => makeSalvage(deps, requestId, signal),
      "prepare-view": ({ viewId }, signal) => prepareView(deps, viewId, signal),
      "build-training-set": ({ setId }, signal) => buildTrainingSet(deps, setId, signal),
      "make-thumbnails": ({ recordingId }, signal) => makeThumbnails(deps, recordingId, signal),
      "look-at-object": (noted) => lookAtNoted(deps, noted),
      "list-bucket": ({ siteId }, signal) => visitBucket(deps, siteId, { signal }).then(() => undefined),
      "judge-listed": ({ siteId }, signal) => judgeListed(deps, siteId, signal),
      "list-buckets": () => queueVisits(deps),
      "remove-object": ({ blobKey }) => removeOrPutOff(deps, blobKey),
      reconcile: () =>
        Promise.all([
          reconcile(deps),
          noteOffline(deps),
          noteAgentPoints(deps),
          noteOrWarn(deps),
          askForCutsAgain(deps),
        ]).then(() => undefined),
      sweep: (_data, signal) =>
        withSmallHeap(() => sweepBySchedule(deps, signal))
          .then(() => verifyAgain(deps))
          .then(() => forgetNotifications(deps))
          .then(() => forgetEvents(deps)),
      scrub: (_data, signal) => scrubStore({ ...deps, readStored: (reading) => readStored(deps, reading) }, signal),
      "back-up": (_data, signal) => backUpBySchedule(deps, signal),
      "walk-store": (_data, signal) => walkStore({ ...deps, replayLedger: () => replayLedger(deps, signal) }, signal),
      heal: (_data, signal) => heal(deps, signal),
    },
    CONCURRENCY,
    { "back-up": backups.schedule },
  );
  return new WebhookSender(deps);
}
