import type { Site } from "@downlink/protocol";
import { Badge } from "../parts/badge.tsx";
import { ForeignText } from "../parts/foreign-text.tsx";
import type { Column } from "../parts/table.tsx";
import { Age } from "../parts/time.tsx";
import { SITE_TYPES } from "./site-types.ts";

export const siteColumns: readonly Column<Site>[] = [
  {
    name: "Name",
    width: "minmax(140px, 2fr)",
    narrow: "title",
    cell: ({ id, name }) => (
      <a href={`/sites/${encodeURIComponent(id)}`}>
        <ForeignText text={name} />
      </a>
    ),
  },
  { name: "Type", width: "130px", narrow: "sub", cell: ({ type }) => SITE_TYPES[type].name },
  {
    name: "For",
    width: "110px",
    cell: ({ projectIds }) => (projectIds.length === 0 ? "every project" : `${projectIds.length} projects`),
  },
  { name: "State", width: "minmax(110px, 1fr)", narrow: "end", cell: (site) => <SiteState site={site} /> },
  {
    name: "Last contact",
    width: "130px",
    narrow: "sub-end",
    cell: ({ agent, process }) => {
      const lastSeenAt = agent?.lastSeenAt ?? process?.lastSeenAt;
      return lastSeenAt === undefined ? "—" : <Age timeNs={lastSeenAt} />;
    },
  },
];

/** Shows whether the machine of a site answers. Sites of other types have none. */
export function SiteState({ site: { type, agent, process } }: { site: Site }) {
  if (type === "service-hosted" || type === "byob") return <>—</>;
  if (agent?.cloned) return <Badge sign="▲" tone="failed" text="cloned" />;
  const isOnline = agent?.online ?? process?.isOnline;
  if (isOnline === undefined) return <Badge sign="○" tone="plain" text="never connected" />;
  return isOnline ? <Badge sign="●" tone="good" text="online" /> : <Badge sign="○" tone="warn" text="silent" />;
}
