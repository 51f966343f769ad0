import { type Recording, recordings } from "@downlink/protocol";
import { useLocation } from "preact-iso";
import { useQuery } from "../api/use-query.ts";
import { formatBytes } from "../parts/bytes.ts";
import { Empty } from "../parts/empty.tsx";
import { ForeignText } from "../parts/foreign-text.tsx";
import { showHidden } from "../parts/show-hidden.ts";
import { type Column, Table } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";
import { zoneName } from "../time/format-time.ts";
import { zone } from "../time/zone.ts";
import { pagePath } from "../url/project.ts";
import { Answer } from "./answer.tsx";
import { SHOWN } from "./queries.ts";

const POLL_MS = 10_000;

/** Lists the latest imports; all of them are in the list of recordings. */
export function DoneTab({ projectId, device }: { projectId: string; device: string }) {
  const { route } = useLocation();
  const newest = { sortBy: "importedAt", sortOrder: "desc", limit: SHOWN } as const;
  const filter = { projectId, importStatus: ["complete" as const], ...(device && { deviceName: device }) };
  const done = useQuery(recordings.list, { ...filter, ...newest }, { pollMs: POLL_MS });
  return (
    <Answer query={done} empty={<Empty title="Nothing was imported yet." />}>
      {(found) => (
        <>
          {found.length >= SHOWN && <p class="muted">The newest {SHOWN}; all are in the list of recordings.</p>}
          <Table
            label="Imported recordings"
            columns={columnsOf(projectId, zoneName(zone.value))}
            count={found.length}
            rowAt={(index) => found[index]}
            onOpen={({ id }) => route(pagePath(projectId, "recordings", id))}
          />
        </>
      )}
    </Answer>
  );
}

function columnsOf(projectId: string, zoneText: string): readonly Column<Recording>[] {
  return [
    {
      name: `Imported (${zoneText})`,
      width: "170px",
      narrow: "sub",
      cell: ({ importedAt }) => (importedAt === undefined ? "—" : <Time timeNs={importedAt} />),
    },
    { name: "Device", width: "minmax(90px, 1fr)", cell: ({ device }) => device?.name ?? "—" },
    {
      name: "Path",
      width: "minmax(180px, 3fr)",
      narrow: "title",
      cell: ({ id, path }) => (
        <a href={pagePath(projectId, "recordings", id)} title={showHidden(path)} tabIndex={-1}>
          <ForeignText text={path || id} />
        </a>
      ),
    },
    { name: `Start (${zoneText})`, width: "158px", cell: ({ start }) => <Time timeNs={start} /> },
    { name: "Size", width: "80px", isNumber: true, narrow: "sub-end", cell: ({ size }) => formatBytes(size) },
  ];
}
