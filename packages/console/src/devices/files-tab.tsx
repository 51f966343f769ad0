import { type Device, type EdgeFile, edgeFiles } from "@downlink/protocol";
import { useQuery } from "../api/use-query.ts";
import { formatBytes, formatCount } from "../parts/bytes.ts";
import { Empty } from "../parts/empty.tsx";
import { Failed } from "../parts/failed.tsx";
import { ProgressLine } from "../parts/progress-line.tsx";
import { Age } from "../parts/time.tsx";
import { pagePath } from "../url/project.ts";

const MOST = 200;
const POLL_MS = 15_000;

/** Lists the files on a device that are no recordings, and why. The page of imports offers to salvage them. */
export function FilesTab({ device, projectId }: { device: Device; projectId: string }) {
  const input = { deviceId: device.id, projectId, limit: MOST };
  const { data, failure, again, isLoading } = useQuery(edgeFiles.list, input, { pollMs: POLL_MS });
  const query = `?tab=unreadable&device=${encodeURIComponent(device.name)}`;
  return (
    <div class="stack">
      <ProgressLine isOn={isLoading} />
      {failure && <Failed failure={failure} again={again} />}
      {data?.length === 0 && <Empty title="Every file on this device that was examined is a recording." />}
      {data !== undefined && data.length > 0 && (
        <>
          <p class="row">
            {data.length < MOST ? formatCount(data.length) : `The first ${MOST}`} that cannot be imported as they are.
            <a href={`${pagePath(projectId, "imports")}${query}`}>Salvage what is readable</a>
          </p>
          <ul class="card device-files">
            {data.map((file) => (
              <FileRow key={file.id} file={file} />
            ))}
          </ul>
        </>
      )}
    </div>
  );
}

function FileRow({ file: { path, size, state, reason, modifiedAt } }: { file: EdgeFile }) {
  return (
    <li>
      <div class="row">
        <strong class="cut">{path}</strong>
        <span class="muted">
          {state} · {formatBytes(size)} · changed <Age timeNs={modifiedAt} />
        </span>
      </div>
      {reason && (
        <p>
          {reason.text} <code>{reason.code}</code>
        </p>
      )}
    </li>
  );
}
