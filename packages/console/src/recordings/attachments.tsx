import { attachments as contracts, type Recording, type RecordingAttachment } from "@downlink/protocol";
import { type Query, useQuery } from "../api/use-query.ts";
import { formatBytes } from "../parts/bytes.ts";
import { Empty } from "../parts/empty.tsx";
import { Failed } from "../parts/failed.tsx";
import { Time } from "../parts/time.tsx";

export function useAttachments({ id, importStatus }: Recording): Query<RecordingAttachment[]> {
  return useQuery(contracts.list, { recordingId: id, limit: 1000 }, { isEnabled: importStatus === "complete" });
}

interface AttachmentsProps {
  readonly recording: Recording;
  readonly attachments: Query<RecordingAttachment[]>;
}

export function Attachments({ recording, attachments: { data, failure, again } }: AttachmentsProps) {
  if (failure) return <Failed failure={failure} again={again} />;
  if (recording.importStatus !== "complete") return <Empty title="Its attachments are known once it is imported." />;
  if (!data) return null;
  if (data.length === 0) return <Empty title="It has no attachments." />;
  return (
    <ul class="stack">
      {data.map(({ id, name, mediaType, size, logTime }) => (
        <li key={id} class="card row">
          <strong class="attachment-name">{name}</strong>
          <span class="muted">{mediaType}</span>
          <span class="muted">{formatBytes(size)}</span>
          <Time timeNs={logTime} />
          <span class="grow" />
          <a class="button small" href={`/v1/recording-attachments/${encodeURIComponent(id)}/download`}>
            Download
          </a>
        </li>
      ))}
    </ul>
  );
}
