import type { PendingImport } from "@downlink/protocol";
import type { Query } from "../api/use-query.ts";
import { Badge } from "../parts/badge.tsx";
import { Empty } from "../parts/empty.tsx";
import { Age } from "../parts/time.tsx";
import { Answer } from "./answer.tsx";
import { ImportPath, Sender } from "./import-cells.tsx";

interface ProcessingProps {
  readonly processing: Query<PendingImport[]>;
  readonly projectId: string;
}

/** Shows files whose bytes are here, until they are recordings. */
export function ProcessingTab({ processing, projectId }: ProcessingProps) {
  return (
    <Answer query={processing} empty={<Empty title="Nothing is being processed." />}>
      {(imports) => (
        <ul class="import-rows card">
          {imports.map((one) => (
            <Row key={one.requestId} {...{ one, projectId }} />
          ))}
        </ul>
      )}
    </Answer>
  );
}

function Row({ one, projectId }: { one: PendingImport; projectId: string }) {
  const { filename, recordingId, deviceName, pipelineStage, attempts, nextAttemptAt, error, createdAt } = one;
  return (
    <li>
      <ImportPath path={filename} {...{ recordingId, projectId }} />
      <Badge tone="moving" sign="◕" text={pipelineStage} />
      <Sender {...{ deviceName, projectId }} />
      <span class="muted">
        <Age timeNs={createdAt} />
      </span>
      {nextAttemptAt !== undefined && (
        <p class="import-why">
          Attempt {attempts} failed{error && `: ${error}`}. It is tried again by itself <Age timeNs={nextAttemptAt} />.
        </p>
      )}
    </li>
  );
}
