import type { Device } from "@downlink/protocol";
import { formatBytes, formatCount } from "../parts/bytes.ts";
import { ForeignText } from "../parts/foreign-text.tsx";
import { showHidden } from "../parts/show-hidden.ts";
import type { Column } from "../parts/table.tsx";
import { Age } from "../parts/time.tsx";
import { pagePath } from "../url/project.ts";
import { countFiles, uploadRateOf } from "./device-facts.ts";
import { DiskBar } from "./disk-bar.tsx";
import { StandingBadge } from "./standing-badge.tsx";

export function columnsOf(projectId: string): readonly Column<Device>[] {
  return [
    { name: "State", width: "100px", narrow: "end", cell: (device) => <StandingBadge device={device} /> },
    {
      name: "Name",
      width: "minmax(100px, 1fr)",
      sort: "name",
      narrow: "title",
      cell: ({ name }) => (
        <a href={pagePath(projectId, "devices", name)} title={showHidden(name)} tabIndex={-1}>
          <ForeignText text={name} />
        </a>
      ),
    },
    {
      name: "Last seen",
      width: "112px",
      sort: "lastSeenAt",
      narrow: "sub",
      cell: ({ agent }) => (agent ? <Age timeNs={agent.lastSeenAt} /> : "—"),
    },
    {
      name: "Problems",
      width: "minmax(110px, 1fr)",
      sort: "problems",
      cell: (device) => <Problems device={device} />,
    },
    {
      name: "Disk",
      width: "152px",
      sort: "freeBytes",
      narrow: "sub-end",
      cell: (device) => <DiskBar device={device} />,
    },
    {
      name: "Files / imported",
      width: "116px",
      spare: 3,
      isNumber: true,
      cell: (device) => {
        const counts = countFiles(device);
        return counts ? `${formatCount(counts.onDevice)} / ${formatCount(counts.imported)}` : "—";
      },
    },
    {
      name: "Upload",
      width: "84px",
      spare: 2,
      isNumber: true,
      cell: (device) => {
        const rate = uploadRateOf(device);
        return rate ? `${formatBytes(rate)}/s` : "—";
      },
    },
    { name: "Agent", width: "56px", spare: 1, cell: ({ agent }) => agent?.version ?? "—" },
  ];
}

function Problems({ device: { agent } }: { device: Device }) {
  const problems = agent?.status?.problems ?? [];
  const [first] = problems;
  if (!first) return <span class="muted">none</span>;
  const all = problems.map(({ title, code }) => title ?? code).join("; ");
  return (
    <span title={showHidden(all)}>
      {problems.length > 1 && `${problems.length}: `}
      {showHidden(first.title ?? first.code)}
    </span>
  );
}
