import type { Recording } from "@downlink/protocol";
import { formatDuration } from "../time/format-time.ts";
import { pagePath } from "../url/project.ts";
import { StatusBadge } from "./badge.tsx";
import { formatBytes } from "./bytes.ts";
import { CutBadge } from "./cut-badge.tsx";
import { shownPath } from "./cut-text.ts";
import { ForeignText } from "./foreign-text.tsx";
import { showHidden } from "./show-hidden.ts";
import { Still } from "./still.tsx";
import type { Column } from "./table.tsx";
import { Time } from "./time.tsx";
import "./recording-columns.css";

/** Returns the columns of every list of recordings. The zone of the times stands in the head, because a time without a zone says nothing. */
export function recordingColumns(projectId: string, zone: string): readonly Column<Recording>[] {
  return [
    {
      name: `Start (${zone})`,
      width: "158px",
      sort: "start",
      narrow: "sub",
      cell: (recording) => <Start {...recording} />,
    },
    {
      name: "Duration",
      width: "84px",
      spare: 3,
      sort: "duration",
      isNumber: true,
      cell: ({ start, end }) => formatDuration(end - start),
    },
    {
      name: "Device",
      width: "minmax(90px, 1fr)",
      sort: "deviceName",
      cell: ({ device }) =>
        device ? (
          <a href={pagePath(projectId, "devices", device.name)} tabIndex={-1}>
            <ForeignText text={device.name} />
          </a>
        ) : (
          "—"
        ),
    },
    { name: "Picture", width: "60px", spare: 4, cell: (recording) => <Still recording={recording} /> },
    pathColumn(projectId),
    {
      name: "Size",
      width: "72px",
      spare: 2,
      isNumber: true,
      narrow: "sub-end",
      cell: ({ size }) => formatBytes(size),
    },
    {
      name: "Status",
      width: "minmax(124px, 1.5fr)",
      narrow: "end",
      cell: ({ importStatus, storedDamage, failure, cutOf }) => (
        <span class="cut" title={failure?.text}>
          <StatusBadge status={importStatus} isDamaged={storedDamage !== undefined} /> <CutBadge {...{ cutOf }} />
          {failure && <span class="status-reason muted"> {showHidden(failure.text)}</span>}
        </span>
      ),
    },
    {
      name: "Session",
      width: "minmax(60px, 1fr)",
      spare: 1,
      cell: ({ sessionKey, sessionId }) => sessionKey ?? (sessionId ? "without a key" : "—"),
    },
  ];
}

function pathColumn(projectId: string): Column<Recording> {
  return {
    name: "Path",
    width: "minmax(150px, 3fr)",
    sort: "path",
    narrow: "title",
    cell: (recording) => (
      <a href={pagePath(projectId, "recordings", recording.id)} title={showHidden(recording.path)} tabIndex={-1}>
        <ForeignText text={shownPath(recording)} />
      </a>
    ),
  };
}

/** Where rows have two lines, no column of its own names the device. */
function Start({ start, device }: Recording) {
  return (
    <>
      <Time timeNs={start} />
      {device && (
        <span class="narrow-device">
          {" · "}
          <ForeignText text={device.name} />
        </span>
      )}
    </>
  );
}
