import { ForeignText } from "../parts/foreign-text.tsx";
import { showHidden } from "../parts/show-hidden.ts";
import { pagePath } from "../url/project.ts";

interface PathProps {
  readonly path: string;
  /** The recording of the file, once there is one. */
  readonly recordingId?: string | undefined;
  readonly projectId: string;
}

export function ImportPath({ path, recordingId, projectId }: PathProps) {
  return (
    <span class="cut import-path" title={showHidden(path)}>
      {recordingId ? (
        <a href={pagePath(projectId, "recordings", recordingId)}>
          <ForeignText text={path} />
        </a>
      ) : (
        <ForeignText text={path} />
      )}
    </span>
  );
}

/** Names the device that sent a file. */
export function Sender({ deviceName, projectId }: { deviceName: string | undefined; projectId: string }) {
  return (
    <span class="cut">
      {deviceName ? (
        <a href={pagePath(projectId, "devices", deviceName)}>
          <ForeignText text={deviceName} />
        </a>
      ) : (
        "an upload"
      )}
    </span>
  );
}
