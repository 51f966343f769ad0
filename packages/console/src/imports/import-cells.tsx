import { pagePath } from "../url/project.ts";

interface PathProps {
  readonly path: string;
  /** The recording of the file, once there is one. */
  readonly recordingId?: string | undefined;
  readonly projectId: string;
}

export function ImportPath({ path, recordingId, projectId }: PathProps) {
  return (
    <span class="cut import-path" title={path}>
      {recordingId ? <a href={pagePath(projectId, "recordings", recordingId)}>{path}</a> : path}
    </span>
  );
}

/** Names the device that sent a file. */
export function Sender({ deviceName, projectId }: { deviceName: string | undefined; projectId: string }) {
  return (
    <span class="cut">
      {deviceName ? <a href={pagePath(projectId, "devices", deviceName)}>{deviceName}</a> : "an upload"}
    </span>
  );
}
