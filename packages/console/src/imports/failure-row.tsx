import { type PendingImport, pendingImports } from "@downlink/protocol";
import { may, useMe } from "../api/me.ts";
import { useChange } from "../api/use-change.ts";
import { Badge } from "../parts/badge.tsx";
import { Button } from "../parts/button.tsx";
import { Failed } from "../parts/failed.tsx";
import { Age } from "../parts/time.tsx";
import { toast } from "../parts/toast.tsx";
import type { Advice } from "./failure-advice.ts";
import { isUpload } from "./group-failures.ts";
import { ImportPath, Sender } from "./import-cells.tsx";

interface RowProps {
  readonly one: PendingImport;
  readonly projectId: string;
  readonly advice: Advice;
}

export function FailureRow({ one, projectId, advice }: RowProps) {
  const { filename, recordingId, deviceName, error, updatedAt, quarantinedAt } = one;
  return (
    <li>
      <ImportPath path={filename} {...{ recordingId, projectId }} />
      <Sender {...{ deviceName, projectId }} />
      <span class="muted">
        <Age timeNs={updatedAt} />
      </span>
      {quarantinedAt !== undefined && (
        <Badge tone="warn" sign="◆" text="quarantined" title="It is not tried again by itself" />
      )}
      <Actions {...{ one, advice }} />
      <p class="import-why">{error ?? "No reason was given."}</p>
    </li>
  );
}

function Actions({ one, advice }: Pick<RowProps, "one" | "advice">) {
  const { data: me } = useMe();
  const { requestId, filename } = one;
  const stale = [pendingImports.errors, pendingImports.list] as const;
  const retry = useChange(pendingImports.retry, ...stale);
  const salvage = useChange(pendingImports.salvage, ...stale);
  const failure = retry.failure ?? salvage.failure;
  const mayChange = may(me, "data.upload");
  const runRetry = async () => (await retry.run({ requestId })) && toast(`${filename} is tried again.`);
  const runSalvage = async () => (await salvage.run({ requestId })) && toast(`${filename} is being salvaged.`);
  return (
    <>
      <span class="row import-actions">
        {mayChange && <Button text="Retry" class="small" disabled={retry.isRunning} onClick={() => void runRetry()} />}
        {mayChange && advice.isSalvageable && isUpload(one) && (
          <Button text="Salvage" class="small" disabled={salvage.isRunning} onClick={() => void runSalvage()} />
        )}
        {may(me, "data.stream") && (
          <a class="button small" href={`/v1/data/pending-imports/${encodeURIComponent(requestId)}/file`} download>
            Stored file
          </a>
        )}
      </span>
      {failure && <Failed failure={failure} />}
    </>
  );
}
