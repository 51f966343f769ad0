import { type Device, type EdgeFile, edgeFiles, type Recording, recordings } from "@downlink/protocol";
import { useLocation } from "preact-iso";
import { useQuery } from "../api/use-query.ts";
import { formatBytes, formatMany } from "../parts/bytes.ts";
import { Failed } from "../parts/failed.tsx";
import { ForeignText } from "../parts/foreign-text.tsx";
import { ProgressLine } from "../parts/progress-line.tsx";
import { recordingColumns } from "../parts/recording-columns.tsx";
import { Table } from "../parts/table.tsx";
import { Age } from "../parts/time.tsx";
import { zoneName } from "../time/format-time.ts";
import { zone } from "../time/zone.ts";
import { pagePath } from "../url/project.ts";

const NEWEST = 20;
const MOST = 200;
const POLL_MS = 15_000;

interface FilesProps {
  readonly device: Device;
  readonly projectId: string;
}

/** Lists the newest recordings of a device, and its files that are no recordings. */
export function FilesTab({ device, projectId }: FilesProps) {
  return (
    <div class="stack">
      <Newest {...{ device, projectId }} />
      <Unreadable {...{ device, projectId }} />
    </div>
  );
}

function Newest({ device, projectId }: FilesProps) {
  const newest = { sortBy: "start", sortOrder: "desc", limit: NEWEST } as const;
  const input = { deviceId: device.id, projectId, ...newest };
  const { data, failure, again, isLoading } = useQuery(recordings.list, input, { pollMs: POLL_MS });
  const all = `${pagePath(projectId, "recordings")}?device=${encodeURIComponent(device.name)}`;
  return (
    <section class="stack" aria-label="Recordings">
      <header class="row">
        <h2>Recordings</h2>
        {data !== undefined && data.length === NEWEST && <span class="muted">the newest {NEWEST}</span>}
        <span class="grow" />
        <a href={all}>
          All recordings of <ForeignText text={device.name} />
        </a>
      </header>
      <ProgressLine isOn={isLoading && !data} />
      {failure && <Failed failure={failure} again={again} />}
      {data?.length === 0 && <p class="muted">No recording of this device is known yet.</p>}
      {data !== undefined && data.length > 0 && <RecordingTable {...{ rows: data, projectId }} />}
    </section>
  );
}

function RecordingTable({ rows, projectId }: { rows: readonly Recording[]; projectId: string }) {
  const { route } = useLocation();
  return (
    <Table
      label="Newest recordings"
      columns={recordingColumns(projectId, zoneName(zone.value)).filter(({ name }) => name !== "Device")}
      count={rows.length}
      rowAt={(index) => rows[index]}
      onOpen={({ id }) => route(pagePath(projectId, "recordings", id))}
    />
  );
}

/** Lists files that cannot be imported, and why. The page of imports offers to salvage them. */
function Unreadable({ device, projectId }: FilesProps) {
  const input = { deviceId: device.id, projectId, limit: MOST };
  const { data, failure, again, isLoading } = useQuery(edgeFiles.list, input, { pollMs: POLL_MS });
  const query = `?tab=unreadable&device=${encodeURIComponent(device.name)}`;
  return (
    <section class="stack" aria-label="Files that cannot be imported">
      <header class="row">
        <h2>Files that cannot be imported</h2>
        {data !== undefined && data.length > 0 && (
          <>
            <span class="muted">{data.length < MOST ? formatMany(data.length, "file") : `the first ${MOST}`}</span>
            <span class="grow" />
            <a href={`${pagePath(projectId, "imports")}${query}`}>See what can be salvaged</a>
          </>
        )}
      </header>
      <ProgressLine isOn={isLoading && !data} />
      {failure && <Failed failure={failure} again={again} />}
      {data?.length === 0 && <p class="muted">Every file on this device that was examined is a recording.</p>}
      {data !== undefined && data.length > 0 && (
        <ul class="card device-files">
          {data.map((file) => (
            <FileRow key={file.id} file={file} />
          ))}
        </ul>
      )}
    </section>
  );
}

function FileRow({ file: { path, size, state, reason, modifiedAt } }: { file: EdgeFile }) {
  return (
    <li>
      <div class="row">
        <strong class="cut">
          <ForeignText text={path} />
        </strong>
        <span class="muted">
          {state} · {formatBytes(size)} · changed <Age timeNs={modifiedAt} />
        </span>
      </div>
      {reason && (
        <p title={reason.code}>
          <ForeignText text={reason.text} />
        </p>
      )}
    </li>
  );
}
