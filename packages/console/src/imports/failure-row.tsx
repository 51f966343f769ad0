import { pendingImports, recordings } from "@downlink/protocol";
import { may, useMe } from "../api/me.ts";
import { useChange } from "../api/use-change.ts";
import { Badge } from "../parts/badge.tsx";
import { Button } from "../parts/button.tsx";
import { Failed } from "../parts/failed.tsx";
import { ForeignText } from "../parts/foreign-text.tsx";
import { Age } from "../parts/time.tsx";
import { toast } from "../parts/toast.tsx";
import { type FailedImport, isUpload } from "./failed-import.ts";
import type { Advice } from "./failure-advice.ts";
import { ImportPath, Sender } from "./import-cells.tsx";

interface RowProps {
  readonly one: FailedImport;
  readonly projectId: string;
  readonly advice: Advice;
}

export function FailureRow({ one, projectId, advice }: RowProps) {
  const { path, recordingId, deviceName, reason, atNs, request } = one;
  return (
    <li>
      <ImportPath {...{ path, recordingId, projectId }} />
      <Sender {...{ deviceName, projectId }} />
      <span class="muted">
        <Age timeNs={atNs} />
      </span>
      {request?.quarantinedAt !== undefined && (
        <Badge tone="warn" sign="◆" text="quarantined" title="It is not tried again by itself" />
      )}
      <Actions {...{ one, advice }} />
      <p class="import-why">
        <ForeignText text={reason ?? "No reason was given."} />
      </p>
    </li>
  );
}

/** Offers to process the stored bytes again. Without a request that failed, the device is asked for the file. */
function Actions({ one, advice }: Pick<RowProps, "one" | "advice">) {
  const { data: me } = useMe();
  const { path, recordingId, request } = one;
  const stale = [recordings.list, recordings.summarize, pendingImports.errors, pendingImports.list] as const;
  const retry = useChange(pendingImports.retry, ...stale);
  const ask = useChange(recordings.requestImport, ...stale);
  const salvage = useChange(pendingImports.salvage, ...stale);
  const failure = retry.failure ?? ask.failure ?? salvage.failure;
  const mayChange = may(me, "data.upload");
  const runRetry = async () => {
    const answer = await (request ? retry.run({ requestId: request.requestId }) : ask.run({ keyOrId: recordingId! }));
    if (answer) toast(`${path} is tried again.`);
  };
  const runSalvage = async () =>
    request && (await salvage.run({ requestId: request.requestId })) && toast(`${path} is being salvaged.`);
  const isRunning = retry.isRunning || ask.isRunning;
  return (
    <>
      <span class="row import-actions">
        {mayChange && <Button text="Retry" class="small" disabled={isRunning} onClick={() => void runRetry()} />}
        {mayChange && advice.isSalvageable && isUpload(one) && (
          <Button text="Salvage" class="small" disabled={salvage.isRunning} onClick={() => void runSalvage()} />
        )}
        {request && may(me, "data.stream") && <StoredFile requestId={request.requestId} />}
      </span>
      {failure && <Failed failure={failure} />}
    </>
  );
}

function StoredFile({ requestId }: { requestId: string }) {
  return (
    <a class="button small" href={`/v1/data/pending-imports/${encodeURIComponent(requestId)}/file`} download>
      Stored file
    </a>
  );
}
