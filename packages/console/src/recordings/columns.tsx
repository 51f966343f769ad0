import type { Recording } from "@downlink/protocol";
import { StatusBadge } from "../parts/badge.tsx";
import { formatBytes } from "../parts/bytes.ts";
import type { Column } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";
import { formatDuration } from "../time/format-time.ts";
import { pagePath } from "../url/project.ts";

/** Returns the columns of the list. The zone of the times stands in the head, because a time without a zone says nothing. */
export function columnsOf(projectId: string, zone: string): readonly Column<Recording>[] {
  return [
    {
      name: `Start (${zone})`,
      width: "158px",
      sort: "start",
      narrow: "sub",
      cell: ({ start }) => <Time timeNs={start} />,
    },
    {
      name: "Duration",
      width: "84px",
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
            {device.name}
          </a>
        ) : (
          "—"
        ),
    },
    {
      name: "Path",
      width: "minmax(180px, 3fr)",
      sort: "path",
      narrow: "title",
      cell: ({ id, path }) => (
        <a href={pagePath(projectId, "recordings", id)} title={path} tabIndex={-1}>
          {path || id}
        </a>
      ),
    },
    { name: "Size", width: "72px", isNumber: true, narrow: "sub-end", cell: ({ size }) => formatBytes(size) },
    {
      name: "Status",
      width: "minmax(124px, 1.5fr)",
      narrow: "end",
      cell: ({ importStatus, storedDamage, failure }) => (
        <span class="cut" title={failure?.text}>
          <StatusBadge status={importStatus} isDamaged={storedDamage !== undefined} />
          {failure && <span class="status-reason muted"> {failure.text}</span>}
        </span>
      ),
    },
    {
      name: "Session",
      width: "minmax(60px, 1fr)",
      cell: ({ sessionKey, sessionId }) => sessionKey ?? (sessionId ? "without a key" : "—"),
    },
  ];
}
