import type { PendingImport } from "@downlink/protocol";
import type { Query } from "../api/use-query.ts";
import { Badge } from "../parts/badge.tsx";
import { Empty } from "../parts/empty.tsx";
import { Age } from "../parts/time.tsx";
import { pagePath } from "../url/project.ts";
import { Answer } from "./answer.tsx";

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
      <span class="cut import-path" title={filename}>
        {recordingId ? <a href={pagePath(projectId, "recordings", recordingId)}>{filename}</a> : filename}
      </span>
      <Badge tone="moving" sign="◕" text={pipelineStage} />
      <span class="cut">
        {deviceName ? <a href={pagePath(projectId, "devices", deviceName)}>{deviceName}</a> : "an upload"}
      </span>
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
