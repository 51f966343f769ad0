import type { Event, EventType } from "@downlink/protocol";
import { ForeignText } from "../parts/foreign-text.tsx";
import { PictureCard } from "../parts/picture-card.tsx";
import { PictureOfDevice } from "../parts/picture-of-device.tsx";
import type { Column } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";
import { formatDuration } from "../time/format-time.ts";
import { pagePath } from "../url/project.ts";

interface Given {
  readonly projectId: string;
  readonly types: readonly EventType[];
  readonly zone: string;
}

export function eventColumns({ projectId, types, zone }: Given): readonly Column<Event>[] {
  const typeOf = ({ eventTypeId }: Event) => types.find(({ id }) => id === eventTypeId)?.name;
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
      spare: 1,
      isNumber: true,
      narrow: "sub-end",
      cell: ({ start, end }) => (start === end ? "a moment" : formatDuration(end - start)),
    },
    {
      name: "Device",
      width: "minmax(90px, 1fr)",
      sort: "deviceName",
      narrow: "end",
      cell: ({ device }) => device.name,
    },
    {
      name: "Event",
      width: "minmax(120px, 1fr)",
      narrow: "title",
      cell: (event) => (
        <PictureCard card={() => <PictureOfDevice {...{ projectId, ...momentOf(event) }} />}>
          <a href={pagePath(projectId, "events", event.id)} tabIndex={-1}>
            <ForeignText text={typeOf(event) ?? "event"} />
          </a>
        </PictureCard>
      ),
    },
    { name: "Details", width: "minmax(160px, 3fr)", cell: summarize },
  ];
}

const momentOf = ({ device, start }: Event) => ({ deviceId: device.id, span: { startNs: start, endNs: start } });

/** Keys and values are texts of users and programs: they are shown, and mean nothing. */
function summarize({ metadata, properties = {} }: Event): string {
  const all = [...Object.entries(properties), ...Object.entries(metadata)];
  return all.map(([key, value]) => `${key}: ${Array.isArray(value) ? value.join(", ") : value}`).join(" · ") || "—";
}
